import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import type { ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi'
import { type ProblemCode, problemSchema, problemStatus } from '../../../contracts/problem.ts'
import { problemMeanings } from './problem-meanings.ts'

const requestId = z.string().meta({
  description: 'The id of the request in the log: the one it came with in this header, or a new one.',
  header: { id: 'RequestId' },
})
const retryAfter = z.int().meta({
  description: 'Seconds after which asking again makes sense.',
  header: { id: 'RetryAfter' },
})

/** More headers of an answer: name → what it says. */
export type AnswerHeaders = Readonly<Record<string, z.ZodType>>

/** An answer in JSON. */
export const json = (description: string, schema: z.ZodType, headers: AnswerHeaders = {}): ZodOpenApiResponseObject =>
  content(description, { 'application/json': { schema } }, headers)

/** An answer without a body. */
export const nothing = (description: string): ZodOpenApiResponseObject => content(description, undefined)

/** An answer in another media type. */
export const text = (description: string, type: string, headers?: AnswerHeaders): ZodOpenApiResponseObject =>
  content(description, { [type]: { schema: z.string() } }, headers)

/** The bytes of a picture. */
export const bytes = (description: string, headers?: AnswerHeaders): ZodOpenApiResponseObject =>
  content(description, { 'image/*': {} }, headers)

function content(
  description: string,
  types: ZodOpenApiResponseObject['content'],
  headers: AnswerHeaders = {},
): ZodOpenApiResponseObject {
  const named = z.object({ 'X-Request-Id': requestId, ...headers })
  return types === undefined ? { description, headers: named } : { description, headers: named, content: types }
}

/** The refusals that any route but the probes may answer with, and those with `codes`, by their statuses. */
export function problems(...codes: readonly ProblemCode[]): ZodOpenApiResponsesObject {
  const all: readonly ProblemCode[] = [...codes, 'forbidden', 'internal']
  const statuses = [...new Set(all.map((code) => problemStatus[code]))]
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      problem(
        status,
        all.filter((code) => problemStatus[code] === status),
      ),
    ]),
  )
}

/** Statuses that pass, so that they say when to come back. */
const passing: readonly number[] = [429, 503]

function problem(status: number, codes: readonly ProblemCode[]): ZodOpenApiResponseObject {
  const list = codes.map((code) => `- \`${code}\`: ${problemMeanings[code]}`)
  return content(
    [STATUS_CODES[status], '', ...list].join('\n'),
    {
      'application/json': { schema: problemSchema },
      'application/problem+json': { schema: problemSchema },
    },
    passing.includes(status) ? { 'Retry-After': retryAfter } : {},
  )
}

/** For jobs that have not ended, which are worth another look soon. */
export const lookAgain: AnswerHeaders = { 'Retry-After': retryAfter.optional() }
