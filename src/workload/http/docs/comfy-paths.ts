import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { nodeErrorsSchema, nodeFaultSchema } from '../../../contracts/problem.ts'
import { promptRequestSchema } from '../../../contracts/prompt.ts'
import { envelopeSchema } from '../comfy/comfy-body.ts'
import { freeSchema } from '../routes/comfy/free.ts'
import { removalSchema } from '../routes/comfy/queue.ts'
import { bytes, json, nothing, problems } from './answers.ts'
import { tags } from './tags.ts'

const anything = z.record(z.string(), z.unknown())
const names = z.array(z.string())
const remaining = z.object({ exec_info: z.object({ queue_remaining: z.int() }) })
const queue = z.object({ queue_running: z.array(z.unknown()), queue_pending: z.array(z.unknown()) })
const submitted = z.object({ prompt_id: z.string(), number: z.number(), node_errors: nodeErrorsSchema })
const refused = z.object({ error: nodeFaultSchema, node_errors: nodeErrorsSchema })
const placed = z.object({ name: z.string(), subfolder: z.string(), type: z.literal('input') })
const form = z.object({
  image: z.unknown().meta({ description: 'The file, with a name.' }),
  subfolder: z.string().optional(),
  overwrite: z.enum(['true', '1', 'false', '0']).optional(),
  type: z.literal('input').optional(),
})
const maskForm = form.extend({
  original_ref: z.string().meta({ description: 'JSON `{filename, subfolder, type}` of the picture it belongs to.' }),
})
const view = z.object({
  filename: z.string(),
  subfolder: z.string().optional(),
  type: z.enum(['output', 'input', 'temp']).optional(),
  preview: z.string().optional().meta({ description: '`webp` or `jpeg`, and a quality: `webp;80`.' }),
  channel: z.enum(['rgba', 'rgb', 'a']).optional(),
})
const page = z.object({ max_items: z.int().min(0).optional(), offset: z.int().min(0).optional() })
const body = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })
const badBody = ['invalid-json', 'invalid-request', 'body-too-large', 'unsupported-media-type'] as const
const badForm = ['invalid-request', 'path-not-allowed', 'media-too-large', 'unsupported-media-type'] as const
const folder = { path: z.object({ folder: z.string().meta({ example: 'checkpoints' }) }) }

const operation = (
  summary: string,
  responses: ZodOpenApiOperationObject['responses'],
  more: Partial<ZodOpenApiOperationObject> = {},
): ZodOpenApiOperationObject => ({ summary, tags: [tags.comfy], ...more, responses })

const get = (summary: string, schema: z.ZodType, requestParams?: ZodOpenApiOperationObject['requestParams']) => ({
  get: operation(
    summary,
    { 200: json('As ComfyUI answers.', schema), ...problems() },
    requestParams && { requestParams },
  ),
})
const command = (summary: string, schema: z.ZodType) => ({
  post: operation(summary, { 200: nothing('Done.'), ...problems(...badBody) }, { requestBody: body(schema) }),
})
const upload = (summary: string, schema: z.ZodType) => ({
  post: operation(
    summary,
    { 200: json('Where it lies now.', placed), ...problems(...badForm, 'media-unsupported', 'not-found') },
    { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } },
  ),
})

/** ComfyUI's own routes, briefly. */
export const comfyPaths: ZodOpenApiPathsObject = {
  '/api/prompt': {
    ...get('How many prompts run or wait', remaining),
    post: operation(
      'Queue a prompt',
      {
        200: json('It is queued.', submitted),
        400: json('It is refused.', refused),
        409: json('Its id is taken.', refused),
        429: json('Too many prompts wait.', refused),
        503: json('The server is starting or ending.', refused),
        ...problems('body-too-large', 'unsupported-media-type'),
      },
      { requestBody: body(promptRequestSchema.omit({ id: true }).extend(envelopeSchema.shape)) },
    ),
  },
  '/prompt': get('How many prompts run or wait', remaining),
  '/queue': { ...get('What runs and what waits', queue), ...command('Take out what waits', removalSchema) },
  '/history': {
    ...get('What has ended', anything, { query: page }),
    ...command('Forget what has ended', removalSchema),
  },
  '/history/{id}': get('One that has ended', anything, { path: z.object({ id: z.string() }) }),
  '/free': command('Give back what no prompt uses now', freeSchema),
  '/view': {
    get: operation(
      'A picture of a job, or of the input, output or temp folder',
      { 200: bytes('The picture.'), ...problems('invalid-request', 'path-not-allowed', 'not-found') },
      { requestParams: { query: view } },
    ),
  },
  '/upload/image': upload('Put a picture into the input folder', form),
  '/upload/mask': upload('Put a picture with the transparency of another into the input folder', maskForm),
  '/object_info': get('All nodes', anything),
  '/object_info/{classType}': get('One node', anything, { path: z.object({ classType: z.string() }) }),
  '/models/{folder}': {
    get: operation(
      'The model files of a folder',
      { 200: json('Their names.', names), ...problems('not-found') },
      { requestParams: folder },
    ),
  },
  '/api/models': get('The names of the model folders', names),
  '/embeddings': get('The names of the embeddings', names),
  '/view_metadata/{folder}': {
    get: operation(
      'What a model file says of itself',
      { 200: json('Its metadata.', z.record(z.string(), z.string())), ...problems('not-found') },
      { requestParams: { ...folder, query: z.object({ filename: z.string() }) } },
    ),
  },
  '/system_stats': get('The machine and its devices', anything),
  '/features': get('What this server supports', anything),
  '/extensions': get('Extensions of the editor, of which there are none', names),
}
