import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi'
import { API_VERSION } from '../api-version.ts'
import { comfyPaths } from './comfy-paths.ts'
import { jobPaths } from './job-paths.ts'
import { modelPaths } from './model-paths.ts'
import { promptPaths } from './prompt-paths.ts'
import { serverPaths } from './server-paths.ts'
import { speechPaths } from './speech-paths.ts'
import { tagList } from './tags.ts'
import { webhooks } from './webhooks.ts'

/** A document in OpenAPI 3.1. */
export type OpenApiDocument = ReturnType<typeof createDocument>

/** What this interface takes and answers, made of the schemas that requests are checked with. */
export function openApiDocument(): OpenApiDocument {
  return createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Easel',
        version: API_VERSION,
        description:
          'Runs ComfyUI’s workflows. Errors are problem objects (RFC 9457) with a `code` that does not change.',
      },
      tags: tagList,
      security: [{ ServiceApiKey: [] }, {}],
      paths: merged(promptPaths, jobPaths, modelPaths, speechPaths, serverPaths, comfyPaths),
      webhooks,
      components: {
        securitySchemes: {
          ServiceApiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Service-Api-Key',
            description: 'Asked for when `API_KEY` is set, and by gateways.',
          },
        },
      },
    },
    {
      override({ jsonSchema }) {
        // Every whole number has them, and they say nothing.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
        // Answers may get more members some day.
        if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      },
    },
  )
}

/** A path may have operations in several sections. */
function merged(...sections: readonly ZodOpenApiPathsObject[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {}
  for (const [path, item] of sections.flatMap(Object.entries<ZodOpenApiPathsObject[string]>))
    paths[path] = { ...paths[path], ...item }
  return paths
}
