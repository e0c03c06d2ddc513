import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import {
  downloadCompletedSchema,
  downloadRecordSchema,
  downloadRequestSchema,
  downloadStartedSchema,
} from '../../../contracts/download.ts'
import { json, lookAgain, problems } from './answers.ts'
import { tags } from './tags.ts'

const location = { Location: z.string().meta({ description: 'Where the download can be asked for.' }) }
const example = {
  url: 'https://models.example/lighthouse.safetensors',
  model_type: 'loras',
  filename: 'lighthouse.safetensors',
}

/** Model files. */
export const modelPaths: ZodOpenApiPathsObject = {
  '/models': {
    get: {
      operationId: 'listModels',
      summary: 'The model files that are here now, by folder',
      tags: [tags.models],
      responses: {
        200: json('Folder → names, below it with `/`.', z.record(z.string(), z.array(z.string()))),
        ...problems(),
      },
    },
  },
  '/download': {
    post: {
      operationId: 'download',
      summary: 'Bring a model file here',
      tags: [tags.models],
      requestBody: { required: true, content: { 'application/json': { schema: downloadRequestSchema, example } } },
      responses: {
        200: json('It is here: bytes and seconds.', downloadCompletedSchema, location),
        202: json('It is on its way.', downloadStartedSchema, location),
        ...problems(
          ...(['invalid-json', 'invalid-request', 'url-not-allowed', 'path-not-allowed'] as const),
          ...(['model-unavailable', 'model-unsupported', 'name-taken', 'model-too-large', 'download-failed'] as const),
          ...(['body-too-large', 'unsupported-media-type'] as const),
        ),
      },
    },
  },
  '/downloads/{id}': {
    get: {
      operationId: 'getDownload',
      summary: 'How far a download is, or how it ended',
      tags: [tags.models],
      requestParams: { path: z.object({ id: z.string() }) },
      responses: { 200: json('Its record.', downloadRecordSchema, lookAgain), ...problems('not-found') },
    },
  },
}
