import { z } from 'zod'
import { record, text } from './fields.ts'
import { nameSchema } from './names.ts'

/** Shown instead of the name. */
const displayName = () =>
  text(2, 63).refine((value) => /^[ ,-.0-9A-Za-z]+$/.test(value), 'must have only letters, digits, spaces and , - .')

/** The body that makes a queue (platform reference, section 11). */
export const queueBodySchema = record({
  name: nameSchema,
  display_name: displayName().nullish(),
  description: text(0, 500).nullish(),
})

/** A merge patch of a queue: null resets the display name and removes the description. */
export const queuePatchSchema = queueBodySchema.omit({ name: true })

/** A queue as it is answered; `container_groups` holds the connected ones in full. */
export const queueSchema = z.strictObject({
  id: z.uuid(),
  name: nameSchema,
  display_name: z.string().min(2).max(63),
  description: z.string().max(500).optional(),
  container_groups: z.array(z.unknown()).max(100),
  current_queue_length: z.number().int().min(0),
  create_time: z.iso.datetime(),
  update_time: z.iso.datetime(),
})

/** A page of the queues of a project. */
export const queueListSchema = z.strictObject({ items: z.array(queueSchema).max(100) })

export type QueueBody = z.infer<typeof queueBodySchema>
export type QueuePatch = z.infer<typeof queuePatchSchema>
