import { z } from 'zod'
import { record } from './fields.ts'

/** Where a job is in its life (platform reference, section 7). */
export const platformJobStatusSchema = z.enum(['pending', 'running', 'succeeded', 'cancelled', 'failed'])

/** Something that happened to a job; `started` comes once for each attempt. */
export const platformJobEventSchema = z.object({
  action: z.enum(['created', 'started', 'succeeded', 'cancelled', 'failed']),
  time: z.iso.datetime(),
})

const MOST_PROPERTIES = 20

type Input = { readonly input?: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object whose inside is the user's: it is handed on as it is. */
export const freeObject = () =>
  z.custom<Readonly<Record<string, unknown>>>(isObject, {
    error: ({ input }: Input) => (input === undefined || input === null ? 'is required' : 'must be an object'),
  })

/** What a client notes about its job. Null is the same as none. */
export const metadataSchema = freeObject()
  .refine(
    (metadata) => Object.keys(metadata).length <= MOST_PROPERTIES,
    `must not have more than ${MOST_PROPERTIES} properties`,
  )
  .nullish()

/** An absolute http or https URL of 1 to 2048 characters. */
export const webUrl = (reason = 'must be an absolute http or https URL') =>
  z
    .string({ error: ({ input }: Input) => (input === undefined || input === null ? 'is required' : reason) })
    .refine((url) => url.length <= 2048, 'must not be longer than 2048 characters')
    .refine((url) => /^https?:\/\/\S+$/i.test(url) && URL.canParse(url), reason)

/** The members that a job of an endpoint is created with beside its input; `webhook_url` wins over `webhook`. */
export const jobRequestFields = {
  metadata: metadataSchema,
  webhook: webUrl().nullish(),
  webhook_url: webUrl().nullish(),
}

/** Who is called when the job ends. */
export const webhookOf = (body: z.infer<z.ZodObject<typeof jobRequestFields>>) =>
  body.webhook_url ?? body.webhook ?? undefined

/** The body of a job whose input is a free-form object. */
export const freeJobBodySchema = record({ input: freeObject(), ...jobRequestFields })
