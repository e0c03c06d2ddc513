import { z } from 'zod'

/** Headers that a client may not set: they steer the connection, or tell the metadata service that it is trusted. */
const forbiddenHeader = /^(host|content-length|transfer-encoding|connection|metadata|x-forwarded-.*)$/i

const text = z.string().max(8192)
const headerText = text.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be the value of a header')

/** How to show who asks: as a header, in the query, or as an S3 identity. */
export const authSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('bearer'), token: headerText }),
    z.object({ type: z.literal('basic'), username: text, password: text }),
    z.object({
      type: z.literal('header'),
      header_name: text
        .regex(/^[!#$%&'*+.^`|~\w-]+$/, 'must be the name of a header')
        .refine((name) => !forbiddenHeader.test(name), 'this header may not be set'),
      header_value: headerText,
    }),
    z.object({ type: z.literal('query'), query_param: text, query_value: text }),
    z.object({
      type: z.literal('s3'),
      access_key_id: text,
      secret_access_key: text,
      session_token: text.optional(),
      endpoint: z.url().max(2048).optional(),
      region: text.optional(),
    }),
  ])
  .meta({ id: 'Auth' })

/** Who asks where; the first entry whose pattern matches a whole URL is used. */
export const credentialsSchema = z
  .array(
    z.object({
      url_pattern: z.string().min(1).max(2048).meta({
        description: 'A whole URL, with `**` for anything, `*` for anything but `/` and `?` for one character.',
      }),
      auth: authSchema,
    }),
  )
  .max(100)
  .meta({
    description: 'Who asks where; the first entry whose pattern matches counts. No answer, record or log has them.',
  })

export type Auth = z.infer<typeof authSchema>
export type Credentials = z.infer<typeof credentialsSchema>
