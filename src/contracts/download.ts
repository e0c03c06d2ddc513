import { z } from 'zod'
import { authSchema } from './credentials.ts'
import { problemSchema } from './problem.ts'

/** The body of `POST /download`. */
export const downloadRequestSchema = z.object({
  url: z
    .string()
    .max(16_384)
    .refine((text) => /^(https?|s3):\/\//i.test(text) && URL.canParse(text), 'must be an http, https or s3 URL'),
  /** One of the folders of models. */
  model_type: z.string().min(1).max(255),
  /** The last segment of the URL's path when it is left out. */
  filename: z.string().optional(),
  /** Whether the answer comes when the file is here. */
  wait: z.boolean().default(false),
  auth: authSchema.optional(),
})

const named = { url: z.string(), model_type: z.string(), filename: z.string() }

/** What `POST /download` answers while the file is on its way. */
export const downloadStartedSchema = z.object({ ...named, status: z.literal('started'), id: z.string() })

/** What it answers with `wait` when the file is here: bytes and seconds. */
export const downloadCompletedSchema = z.object({
  ...named,
  status: z.literal('completed'),
  size: z.number().int(),
  duration: z.number(),
})

/** What `GET /downloads/{id}` tells. */
export const downloadRecordSchema = z.object({
  id: z.string(),
  /** Without user part, and without the values of its query. */
  url: z.string(),
  model_type: z.string(),
  filename: z.string(),
  status: z.enum(['started', 'completed', 'failed']),
  /** Bytes that are here. */
  received: z.number().int(),
  /** Bytes, once all are here. */
  size: z.number().int().optional(),
  /** Seconds, once it has ended well. */
  duration: z.number().optional(),
  error: problemSchema.optional(),
})

export type DownloadRequest = z.infer<typeof downloadRequestSchema>
export type DownloadStarted = z.infer<typeof downloadStartedSchema>
export type DownloadCompleted = z.infer<typeof downloadCompletedSchema>
export type DownloadRecord = z.infer<typeof downloadRecordSchema>
