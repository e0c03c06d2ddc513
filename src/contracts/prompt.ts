import { z } from 'zod'
import { convertOutputSchema } from './convert-output.ts'
import { credentialsSchema } from './credentials.ts'
import { nodeErrorsSchema } from './problem.ts'
import { azureUploadSchema, httpUploadSchema, s3UploadSchema, storageUploadSchema } from './upload.ts'

export const promptNodeSchema = z
  .object({
    class_type: z.string().meta({ description: 'The name of a node: `GET /object_info` has them all.' }),
    inputs: z.record(z.string(), z.unknown()).meta({ description: 'Values, and links `[node id, output slot]`.' }),
    _meta: z.looseObject({ title: z.string().optional() }).optional(),
  })
  .meta({ id: 'PromptNode' })

/** A workflow in ComfyUI's API format: node id → node. A link is `[node id, output slot]`. */
export const promptSchema = z
  .record(z.string(), promptNodeSchema)
  .meta({ id: 'Prompt', description: 'A workflow in ComfyUI’s API format: node id → node.' })

/** Names a job, its folder and its files, hence the narrow alphabet. */
export const jobIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,127}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit')
  .refine((id) => !id.includes('..'), 'must not contain ".."')
  .meta({ description: 'Names the job and its files; without one there is a random UUID.', example: 'my-job-7' })

const webhookSchema = z
  .string()
  .min(1)
  .max(2048)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL')

/** The body of `POST /prompt`; keys it does not name are ignored and reported in `warnings`. */
export const promptRequestSchema = z
  .object({
    prompt: promptSchema,
    id: jobIdSchema.optional(),
    convert_output: convertOutputSchema.optional(),
    priority: z.number().int().min(-1000).max(1000).optional().meta({ description: 'Larger ones go first.' }),
    webhook: webhookSchema.optional().meta({ description: 'Gets one unsigned call for each image.' }),
    webhook_v2: webhookSchema.optional().meta({ description: 'Gets one signed call for the whole prompt.' }),
    credentials: credentialsSchema.optional(),
    s3: s3UploadSchema.optional(),
    azure_blob_upload: azureUploadSchema.optional(),
    http_upload: httpUploadSchema.optional(),
    storage: storageUploadSchema.optional(),
    extra_data: z
      .looseObject({ extra_pnginfo: z.record(z.string(), z.unknown()).optional() })
      .optional()
      .meta({ description: 'Texts for the PNG, as ComfyUI’s editors send them.' }),
  })
  .meta({ id: 'PromptRequest' })

/** When each node of a run began and ended, in epoch milliseconds. */
export const nodeStatsSchema = z.object({
  start: z.number(),
  end: z.number().optional(),
  duration: z.number().optional(),
  cached: z.boolean().optional(),
})

/** Where the time of one prompt went; all durations in milliseconds. */
export const statsSchema = z
  .object({
    comfy_execution: z.object({
      start: z.number(),
      end: z.number(),
      duration: z.number(),
      nodes: z.record(z.string(), nodeStatsSchema),
    }),
    preprocess_time: z.number().meta({ description: 'Fetching inputs.' }),
    comfy_round_trip_time: z.number().meta({ description: 'Waiting and running.' }),
    postprocess_time: z.number().meta({ description: 'Encoding files.' }),
    upload_time: z.number(),
    queue_time: z
      .number()
      .optional()
      .meta({ description: 'Of the round trip, the wait for a free place in an engine.' }),
    inference_time: z.number().optional().meta({
      description: 'Inside ONNX Runtime while this prompt ran; shared with prompts that ran beside it.',
    }),
    total_time: z.number(),
  })
  .meta({ id: 'Stats', description: 'Where the time went; all durations in milliseconds.' })

/** The answer of a synchronous `POST /prompt`. */
export const promptAnswerSchema = z
  .looseObject({
    id: z.string(),
    prompt: promptSchema,
    images: z.array(z.string()).meta({
      description: 'The files in base64, or their URLs when they were uploaded, in the order of the graph.',
    }),
    filenames: z.array(z.string()).meta({ description: 'As many as `images`, in the same order.' }),
    stats: statsSchema,
    warnings: z.array(z.string()).optional().meta({ description: 'What was ignored.' }),
    node_errors: nodeErrorsSchema.optional(),
  })
  .meta({ id: 'PromptAnswer' })

/** The answer of an asynchronous `POST /prompt`: the request with defaults filled in, without its credentials. */
export const promptAcceptedSchema = z
  .looseObject({
    id: z.string(),
    prompt: promptSchema,
    status: z.literal('ok'),
    warnings: z.array(z.string()).optional().meta({ description: 'What was ignored.' }),
    node_errors: nodeErrorsSchema.optional(),
  })
  .meta({ id: 'PromptAccepted' })

export type PromptNode = z.infer<typeof promptNodeSchema>
export type Prompt = z.infer<typeof promptSchema>
export type PromptRequest = z.infer<typeof promptRequestSchema>
export type PromptAnswer = z.infer<typeof promptAnswerSchema>
export type NodeStats = z.infer<typeof nodeStatsSchema>
export type Stats = z.infer<typeof statsSchema>
