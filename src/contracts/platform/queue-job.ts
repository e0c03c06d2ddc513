import { z } from 'zod'
import { record } from './fields.ts'
import { metadataSchema, platformJobEventSchema, platformJobStatusSchema, webUrl } from './job-fields.ts'

/** The body that makes a queue job: the input is any JSON but null (platform reference, section 11). */
export const queueJobBodySchema = record({
  input: z.unknown().refine((input) => input !== undefined && input !== null, 'is required'),
  metadata: metadataSchema,
  webhook: webUrl().nullish(),
})

/** A queue job as it is answered (platform reference, section 8.13). */
export const queueJobSchema = z.strictObject({
  id: z.uuid(),
  input: z.json(),
  metadata: z.record(z.string(), z.json()).optional(),
  output: z.json().optional(),
  status: platformJobStatusSchema,
  events: z.array(platformJobEventSchema).max(1000),
  create_time: z.iso.datetime(),
  update_time: z.iso.datetime(),
  webhook: z.string().min(1).max(2048).optional(),
})

/** A page of the jobs of a queue. */
export const queueJobListSchema = z.strictObject({ items: z.array(queueJobSchema).max(100) })

export type QueueJob = z.infer<typeof queueJobSchema>
