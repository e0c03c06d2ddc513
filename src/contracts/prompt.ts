import { z } from 'zod'
import { convertOutputSchema } from './convert-output.ts'
import { httpUploadSchema, s3UploadSchema } from './upload.ts'

export const promptNodeSchema = z.object({
  class_type: z.string(),
  inputs: z.record(z.string(), z.unknown()),
  _meta: z.looseObject({ title: z.string().optional() }).optional(),
})

/** A workflow in ComfyUI's API format: node id → node. A link is `[node id, output slot]`. */
export const promptSchema = z.record(z.string(), promptNodeSchema)

/** Names a job, its folder and its files, hence the narrow alphabet. */
export const jobIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit')
  .refine((id) => !id.includes('..'), 'must not contain ".."')

/** The body of `POST /prompt`; keys it does not name are ignored and reported in `warnings`. */
export const promptRequestSchema = z.object({
  prompt: promptSchema,
  id: jobIdSchema.optional(),
  convert_output: convertOutputSchema.optional(),
  s3: s3UploadSchema.optional(),
  http_upload: httpUploadSchema.optional(),
  extra_data: z.looseObject({ extra_pnginfo: z.record(z.string(), z.unknown()).optional() }).optional(),
})

/** When each node of a run began and ended, in epoch milliseconds. */
export const nodeStatsSchema = z.object({
  start: z.number(),
  end: z.number().optional(),
  duration: z.number().optional(),
  cached: z.boolean().optional(),
})

/** Where the time of one prompt went; all durations in milliseconds. */
export const statsSchema = z.object({
  comfy_execution: z.object({
    start: z.number(),
    end: z.number(),
    duration: z.number(),
    nodes: z.record(z.string(), nodeStatsSchema),
  }),
  preprocess_time: z.number(),
  comfy_round_trip_time: z.number(),
  postprocess_time: z.number(),
  upload_time: z.number(),
  /** Of the round trip, the wait for a free place in an engine. */
  queue_time: z.number().optional(),
  /** Inside ONNX Runtime while this prompt ran; shared with prompts that ran beside it. */
  inference_time: z.number().optional(),
  total_time: z.number(),
})

/** The answer of a synchronous `POST /prompt`. */
export const promptAnswerSchema = z.looseObject({
  id: z.string(),
  prompt: promptSchema,
  /** The encoded files in standard base64, or their URLs when they were uploaded, in the order of the graph. */
  images: z.array(z.string()),
  /** Same length and order as `images`. */
  filenames: z.array(z.string()),
  stats: statsSchema,
  warnings: z.array(z.string()).optional(),
})

export type PromptNode = z.infer<typeof promptNodeSchema>
export type Prompt = z.infer<typeof promptSchema>
export type PromptRequest = z.infer<typeof promptRequestSchema>
export type PromptAnswer = z.infer<typeof promptAnswerSchema>
export type NodeStats = z.infer<typeof nodeStatsSchema>
export type Stats = z.infer<typeof statsSchema>
