import { z } from 'zod'
import { problemSchema } from './problem.ts'

const COST = { least: -2_147_483_648, most: 2_147_483_647 }
const REASON_CHARACTERS = 1000

/** Every error code of the metadata service (platform reference, section 20). */
export const imdsCodes = [
  'invalid-request',
  'metadata-header-required',
  'forwarded-header-not-allowed',
  'container-not-found',
  'not-found',
  'method-not-allowed',
  'content-too-large',
  'unsupported-media-type',
  'unknown-error',
] as const

/** The error object of the metadata service: a problem object with a code and the faults of each property. */
export const imdsProblemSchema = problemSchema.extend({
  code: z.enum(imdsCodes),
  errors: z.record(z.string(), z.array(z.string().max(200)).readonly()),
})

/** Answer of `GET /v1/token`. */
export const imdsTokenSchema = z.object({ jwt: z.string().min(1).max(1000) })

/** Answer of `GET /v1/status`. */
export const imdsStatusSchema = z.object({ ready: z.boolean(), started: z.boolean() })

/** Answer of `GET /v1/deletion-cost`, and body of `PUT`. */
export const imdsDeletionCostSchema = z.object({
  deletion_cost: z
    .int({
      error: ({ input }) => (input === undefined ? undefined : `must be an integer from ${COST.least} to ${COST.most}`),
    })
    .min(COST.least)
    .max(COST.most),
})

/** Body of `POST /v1/reallocate`. */
export const imdsReallocateSchema = z.object({
  reason: z.string().refine((reason) => {
    const characters = [...reason].length // a surrogate pair is one
    return characters >= 1 && characters <= REASON_CHARACTERS
  }, `must have 1 to ${REASON_CHARACTERS} characters`),
})

export type ImdsCode = (typeof imdsCodes)[number]
export type ImdsProblem = z.infer<typeof imdsProblemSchema>
export type ImdsToken = z.infer<typeof imdsTokenSchema>
export type ImdsStatus = z.infer<typeof imdsStatusSchema>
export type ImdsDeletionCost = z.infer<typeof imdsDeletionCostSchema>
