import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import type { ProblemCode } from '../../../contracts/problem.ts'
import {
  jobIdSchema,
  promptAcceptedSchema,
  promptAnswerSchema,
  promptRequestSchema,
} from '../../../contracts/prompt.ts'
import { comfySchema, idSchema } from '../routes/interrupt.ts'
import { json, problems } from './answers.ts'
import { tags } from './tags.ts'

const DESCRIPTION = `
Runs a workflow in ComfyUI's API format. The answer has the images in base64 (200), unless they go elsewhere:

- with \`s3\`, \`azure_blob_upload\`, \`http_upload\` or \`storage\` they are uploaded, and \`images\` has their URLs; of several
  blocks the first in this order is used;
- with \`webhook_v2\`, \`webhook\`, \`async: true\` in such a block, or the header \`Prefer: respond-async\`, the answer is a
  202 at once, and \`Location\` says where the job can be asked for.

A body with \`client_id\`, which only ComfyUI's own clients send, is answered as \`POST /api/prompt\` answers.
`.trim()

const headers = z.object({
  Prefer: z.string().optional().meta({ description: '`respond-async`: answer at once, with a 202.' }),
  'Job-Id': jobIdSchema.optional().meta({
    description: 'The `id` of a body that has none. `JOB_ID_HEADER` gives this header another name.',
  }),
})

const example = {
  prompt: {
    1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'easel-demo.safetensors' } },
    2: {
      class_type: 'CLIPTextEncode',
      inputs: { clip: ['1', 1], text: 'a boat with a red sail on the sea at sunset, the sun' },
    },
    3: { class_type: 'CLIPTextEncode', inputs: { clip: ['1', 1], text: '' } },
    4: { class_type: 'EmptyLatentImage', inputs: { width: 256, height: 256, batch_size: 1 } },
    5: {
      class_type: 'KSampler',
      inputs: {
        ...{ model: ['1', 0], positive: ['2', 0], negative: ['3', 0], latent_image: ['4', 0] },
        ...{ seed: 2, steps: 20, cfg: 4.5, sampler_name: 'dpmpp_2m', scheduler: 'normal', denoise: 1 },
      },
    },
    6: { class_type: 'VAEDecode', inputs: { samples: ['5', 0], vae: ['1', 2] } },
    7: { class_type: 'SaveImage', inputs: { images: ['6', 0], filename_prefix: 'easel' } },
  },
  convert_output: { format: 'webp', options: { quality: 90 } },
}

/** All that can go wrong with a prompt. */
const codes: readonly ProblemCode[] = [
  ...(['invalid-json', 'invalid-request', 'invalid-graph', 'no-output-node'] as const),
  ...(['media-unavailable', 'media-unsupported', 'model-unavailable', 'model-unsupported'] as const),
  ...(['path-not-allowed', 'url-not-allowed', 'upload-not-configured'] as const),
  ...([
    'cancelled',
    'id-conflict',
    'body-too-large',
    'media-too-large',
    'model-too-large',
    'result-too-large',
  ] as const),
  ...(['unsupported-media-type', 'conversion-failed', 'queue-full', 'execution-failed', 'out-of-memory'] as const),
  ...(['upload-failed', 'download-failed', 'not-ready', 'draining', 'shutting-down', 'timed-out'] as const),
]

const stoppedSchema = z.object({ id: z.string(), interrupted: z.enum(['success', 'failed']) })

/** Running prompts, and stopping them. */
export const promptPaths: ZodOpenApiPathsObject = {
  '/prompt': {
    post: {
      operationId: 'runPrompt',
      summary: 'Run a prompt',
      description: DESCRIPTION,
      tags: [tags.prompts],
      requestParams: { header: headers },
      requestBody: { required: true, content: { 'application/json': { schema: promptRequestSchema, example } } },
      responses: {
        200: json('The prompt has run.', promptAnswerSchema, {
          'Idempotent-Replayed': z
            .literal('true')
            .optional()
            .meta({ description: 'This request was answered before; nothing ran.' }),
        }),
        202: json('The prompt has been accepted, and will be delivered.', promptAcceptedSchema, {
          Location: z.string().meta({ description: 'Where its job can be asked for.' }),
        }),
        ...problems(...codes),
      },
    },
  },
  '/interrupt': {
    post: {
      operationId: 'interrupt',
      summary: 'Cancel a prompt that waits or runs',
      description:
        'With `prompt_id` or nothing, as ComfyUI’s clients ask: cancels that prompt if it runs, or all that run.',
      tags: [tags.prompts],
      requestBody: {
        content: { 'application/json': { schema: z.union([idSchema, comfySchema]), example: { id: 'my-job-7' } } },
      },
      responses: {
        200: json('It is cancelled. There is no body for ComfyUI’s clients.', stoppedSchema),
        404: json('There is no such prompt, or it has ended.', stoppedSchema),
        ...problems('invalid-json', 'invalid-request', 'body-too-large', 'unsupported-media-type'),
      },
    },
  },
}
