import { z } from 'zod'

/** Text that begins an object's key: exactly as given, so it needs no slash but may have no way out of itself. */
const keyPrefix = z
  .string()
  .refine((text) => new TextEncoder().encode(text).length <= 900, 'must have 900 bytes at most')
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .refine((text) => !text.split('/').includes('..'), 'must not contain a ".." segment')

const asynchronous = z.boolean().default(false)

/** Files become objects of a bucket of any S3-compatible store: key = `prefix` + file name. */
export const s3UploadSchema = z.object({
  bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be a bucket name: 3 to 63 of a-z 0-9 . -'),
  prefix: keyPrefix,
  async: asynchronous,
})

/** Files are PUT to `url_prefix`/<file name>. */
export const httpUploadSchema = z.object({
  url_prefix: z
    .string()
    .max(2048)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL'),
  async: asynchronous,
})

export type S3Upload = z.infer<typeof s3UploadSchema>
export type HttpUpload = z.infer<typeof httpUploadSchema>
