import { z } from 'zod'
import { problemSchema } from './problem.ts'
import { promptSchema, statsSchema } from './prompt.ts'

/** The words for where a prompt is in its life. */
export const jobStatusSchema = z.enum(['pending', 'running', 'succeeded', 'failed', 'cancelled'])

/** How far a running prompt is: the node at work, its steps, and the nodes of the whole graph. */
export const jobProgressSchema = z.object({
  node: z.string(),
  class_type: z.string(),
  value: z.number().optional(),
  max: z.number().optional(),
  nodes_done: z.number(),
  nodes_total: z.number(),
})

/** How the delivery of a job's result to one place goes. Times are ISO 8601. */
export const deliverySchema = z
  .object({
    kind: z.string().meta({ description: 'The field of the request that asked for it.', example: 'webhook_v2' }),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.number().int(),
    next_attempt_time: z.string().optional(),
    last_error: z.string().optional(),
  })
  .meta({ id: 'Delivery', description: 'How the delivery to one place goes. Times are ISO 8601.' })

/** What `GET /jobs/{id}` tells; the members of an answer are there once it has succeeded. Times are ISO 8601. */
export const jobRecordSchema = z
  .looseObject({
    id: z.string(),
    run: z.number().int().min(1).meta({ description: 'Counts the runs of this id, from 1.' }),
    status: jobStatusSchema,
    create_time: z.string(),
    update_time: z.string(),
    start_time: z.string().optional(),
    finish_time: z.string().optional(),
    queue_position: z.number().int().optional().meta({ description: '0 is next; only while pending.' }),
    progress: jobProgressSchema.optional(),
    delivery: z
      .array(deliverySchema)
      .optional()
      .meta({ description: 'One for each place the result goes to beside the answer.' }),
    outputs: z
      .array(z.string())
      .optional()
      .meta({ description: 'Paths of the outputs that can be read here, in order.' }),
    prompt: promptSchema.optional(),
    images: z.array(z.string()).optional().meta({ description: 'As in the answer of `POST /prompt`.' }),
    filenames: z.array(z.string()).optional(),
    stats: statsSchema.optional(),
    warnings: z.array(z.string()).optional(),
    error: problemSchema.optional(),
  })
  .meta({
    id: 'Job',
    description: 'A job; the members of an answer are there once it has succeeded. Times are ISO 8601.',
  })

export type JobStatus = z.infer<typeof jobStatusSchema>
export type JobProgress = z.infer<typeof jobProgressSchema>
export type DeliveryRecord = z.infer<typeof deliverySchema>
export type JobRecord = z.infer<typeof jobRecordSchema>
