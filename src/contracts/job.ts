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

/** What `GET /jobs/{id}` tells; the members of an answer are there once it has succeeded. Times are ISO 8601. */
export const jobRecordSchema = z.looseObject({
  id: z.string(),
  /** Counts the runs of this id, from 1. */
  run: z.number().int().min(1),
  status: jobStatusSchema,
  create_time: z.string(),
  update_time: z.string(),
  start_time: z.string().optional(),
  finish_time: z.string().optional(),
  /** 0 is next; only while pending. */
  queue_position: z.number().int().optional(),
  progress: jobProgressSchema.optional(),
  prompt: promptSchema.optional(),
  /** Where each output can be read, or was uploaded to. */
  images: z.array(z.string()).optional(),
  filenames: z.array(z.string()).optional(),
  stats: statsSchema.optional(),
  warnings: z.array(z.string()).optional(),
  error: problemSchema.optional(),
})

export type JobStatus = z.infer<typeof jobStatusSchema>
export type JobProgress = z.infer<typeof jobProgressSchema>
export type JobRecord = z.infer<typeof jobRecordSchema>
