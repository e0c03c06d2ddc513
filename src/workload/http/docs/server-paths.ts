import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi'
import { API_VERSION } from '../api-version.ts'
import { json, problems, text } from './answers.ts'
import { tags } from './tags.ts'

const version = z.literal(API_VERSION)

/** Probes answer everybody. */
const probe = (operation: ZodOpenApiOperationObject): ZodOpenApiOperationObject => ({
  ...operation,
  tags: [tags.server],
  security: [],
})

const page = (operationId: string, summary: string, type: string): ZodOpenApiOperationObject => ({
  operationId,
  summary,
  tags: [tags.server],
  responses: { 200: text('It.', type), ...problems() },
})

/** How the server is, and what it says of itself. */
export const serverPaths: ZodOpenApiPathsObject = {
  '/health': {
    get: probe({
      operationId: 'health',
      summary: 'Whether this instance is worth keeping',
      responses: {
        200: json('It is.', z.object({ version, status: z.literal('healthy') })),
        500: json('It is still starting, or cannot recover.', z.object({ version, status: z.literal('not healthy') })),
      },
    }),
  },
  '/ready': {
    get: probe({
      operationId: 'ready',
      summary: 'Whether prompts should be sent here now',
      responses: {
        200: json('They should.', z.object({ version, status: z.literal('ready') })),
        503: json(
          'They should not.',
          z.object({ version, status: z.literal('not ready'), reasons: z.array(z.string()) }),
        ),
      },
    }),
  },
  '/metrics': { get: page('metrics', 'Measurements for Prometheus', 'text/plain; version=0.0.4; charset=utf-8') },
  '/docs': { get: page('docs', 'This document as a page', 'text/html') },
  '/docs/json': {
    get: {
      operationId: 'docsJson',
      summary: 'This document',
      tags: [tags.server],
      responses: { 200: json('It.', z.looseObject({ openapi: z.string() })), ...problems() },
    },
  },
  '/docs/yaml': { get: page('docsYaml', 'This document in YAML', 'application/yaml') },
  '/docs/static/{file}': {
    get: {
      operationId: 'docsFile',
      summary: 'A file that the page consists of',
      tags: [tags.server],
      requestParams: { path: z.object({ file: z.string().meta({ example: 'swagger-ui.css' }) }) },
      responses: { 200: { description: 'It.', content: { '*/*': {} } }, ...problems('not-found') },
    },
  },
}
