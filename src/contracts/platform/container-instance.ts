import { z } from 'zod'
import { integer } from './fields.ts'

export const instanceStates = ['allocating', 'downloading', 'creating', 'running', 'stopping'] as const

/** What the management API shows of a deletion cost, which is an int32 inside. */
export const MOST_DELETION_COST = 100_000

/** One container of a group on one node; its id is new at every start (platform reference, section 8.12). */
export const containerInstanceSchema = z.strictObject({
  id: z.uuid(),
  machine_id: z.uuid(),
  state: z.enum(instanceStates),
  /** Of its last change of state. */
  update_time: z.iso.datetime(),
  /** The group's version that it runs. */
  version: z.number().int().min(1),
  started: z.boolean(),
  ready: z.boolean(),
  deletion_cost: z.number().int().min(0).max(MOST_DELETION_COST),
})

/** The instances of a group, oldest first. */
export const containerInstanceListSchema = z.strictObject({ instances: z.array(containerInstanceSchema).max(1000) })

/** The only patch of an instance; null is 0. Any other member is refused. */
export const instancePatchSchema = z.strictObject({
  deletion_cost: integer(0, MOST_DELETION_COST).nullish(),
})

export type ContainerInstance = z.infer<typeof containerInstanceSchema>
