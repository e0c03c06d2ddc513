import { z } from 'zod'
import { platformJobEventSchema, platformJobStatusSchema } from './job-fields.ts'
import { nameSchema } from './names.ts'

/** A job of an inference endpoint as its create operation answers (platform reference, section 8.1). */
export const createdInferenceJobSchema = z.strictObject({
  id: z.uuid(),
  inference_endpoint_name: nameSchema,
  organization_name: nameSchema,
  input: z.json(),
  metadata: z.record(z.string(), z.json()).nullable(),
  status: platformJobStatusSchema,
  events: z.array(platformJobEventSchema).max(1000),
  create_time: z.iso.datetime(),
  update_time: z.iso.datetime(),
})

/** The same as its get operation answers; both names of the webhook carry its URL. */
export const inferenceJobSchema = createdInferenceJobSchema.extend({
  output: z.json().optional(),
  webhook: z.string().min(1).max(2048).optional(),
  webhook_url: z.string().min(1).max(2048).optional(),
})

/** A page of the jobs of an endpoint. */
export const inferenceJobPageSchema = z.strictObject({
  items: z.array(inferenceJobSchema).max(100),
  page: z.number().int(),
  page_size: z.number().int(),
  total_size: z.number().int(),
})
