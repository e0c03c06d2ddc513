import { z } from 'zod'
import type { ZodOpenApiPathItemObject } from 'zod-openapi'
import {
  outputCompleteSchema,
  outputFailedSchema,
  promptCompleteSchema,
  promptFailedSchema,
} from '../../../contracts/webhook.ts'
import { tags } from './tags.ts'

const SIGNED = `
Signed as Standard Webhooks says: HMAC-SHA256 of \`<webhook-id>.<webhook-timestamp>.<body>\` with the key that
\`WEBHOOK_SECRET\` holds in base64. Without a secret there is no signature. Any 2xx ends the call, 410 at once and for good;
everything else is tried again.
`.trim()

const signatureHeaders = z.object({
  'webhook-id': z
    .string()
    .meta({ description: 'The id of the prompt; from its second run on with the run: `<id>.2`.' }),
  'webhook-timestamp': z.string().meta({ description: 'Seconds since 1970, of this attempt.' }),
  'webhook-signature': z
    .string()
    .optional()
    .meta({ description: '`v1,` and base64; several are separated by a space.' }),
})

const call = (summary: string, schema: z.ZodType, signed: boolean): ZodOpenApiPathItemObject => ({
  post: {
    summary,
    tags: [tags.prompts],
    ...(signed && { description: SIGNED, requestParams: { header: signatureHeaders } }),
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { '2XX': { description: 'Received.' }, 410: { description: 'Never call again.' } },
  },
})

/** The calls that this server makes: those of `webhook_v2` by their types, and those of `webhook`. */
export const webhooks: Readonly<Record<string, ZodOpenApiPathItemObject>> = {
  'prompt.complete': call('`webhook_v2`: a prompt has been delivered', promptCompleteSchema, true),
  'prompt.failed': call('`webhook_v2`: a prompt has failed or was cancelled', promptFailedSchema, true),
  'output.complete': call('`webhook`: one file of a prompt', outputCompleteSchema, false),
  'output.failed': call('`webhook`: a prompt has failed or was cancelled', outputFailedSchema, false),
}
