import { z } from 'zod'

/** Text that begins an object's key: exactly as given, so it needs no slash but may have no way out of itself. */
const keyPrefix = z
  .string()
  .refine((text) => new TextEncoder().encode(text).length <= 900, 'must have 900 bytes at most')
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .refine((text) => !text.split('/').includes('..'), 'must not contain a ".." segment')

/** A key that becomes the path of a URL, where segments like these would be lost or refused on the way. */
const pathPrefix = keyPrefix.refine((text) => !text.split('/').includes('.'), 'must not contain a "." segment')

const asynchronous = z
  .boolean()
  .default(false)
  .meta({ description: 'Whether to answer with a 202, before the prompt runs.' })

const hasUserPart = (text: string): boolean => {
  const { username = '', password = '' } = URL.canParse(text) ? new URL(text) : {}
  return username !== '' || password !== ''
}

/** Files become objects of a bucket of any S3-compatible store: key = `prefix` + file name. */
export const s3UploadSchema = z
  .object({
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be a bucket name: 3 to 63 of a-z 0-9 . -'),
    prefix: keyPrefix,
    async: asynchronous,
  })
  .meta({ id: 'S3Upload', description: 'To a store that speaks S3; key = `prefix` + file name.' })

/** Files are PUT to `url_prefix`/<file name>. */
export const httpUploadSchema = z
  .object({
    url_prefix: z
      .string()
      .max(2048)
      .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL')
      .refine((text) => !hasUserPart(text), 'must not hold a name or password: send them in credentials'),
    async: asynchronous,
  })
  .meta({ id: 'HttpUpload', description: 'By PUT to `url_prefix`/<file name>.' })

/** Files go to the platform's storage API, as `files/<prefix><file name>` of the organization. */
export const storageUploadSchema = z
  .object({
    prefix: pathPrefix
      .refine((text) => !text.split('/').slice(0, -1).includes(''), 'must not contain an empty segment')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      .refine((text) => !/[\x00-\x1f\x7f]/.test(text), 'must not contain control characters')
      .default(''),
    sign: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether the URLs carry a token with which anybody can read the file.' }),
    signature_exp: z
      .number()
      .int()
      .min(60)
      .max(2_592_000)
      .optional()
      .meta({ description: 'How many seconds it is good for.' }),
    async: asynchronous,
  })
  .meta({ id: 'StorageUpload', description: 'To the platform’s storage; path = `prefix` + file name.' })

/** Files become block blobs of a container of Azure Blob Storage. */
export const azureUploadSchema = z
  .object({
    container: z
      .string()
      .regex(/^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/, 'must be a container name: 3 to 63 of a-z 0-9 and single -'),
    blob_prefix: pathPrefix.default(''),
    async: asynchronous,
  })
  .meta({ id: 'AzureUpload', description: 'To a container of Azure Blob Storage.' })

export type StorageUpload = z.infer<typeof storageUploadSchema>
export type AzureUpload = z.infer<typeof azureUploadSchema>
export type S3Upload = z.infer<typeof s3UploadSchema>
export type HttpUpload = z.infer<typeof httpUploadSchema>
