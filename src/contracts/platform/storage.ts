import { z } from 'zod'
import { integer, list, oneOf, record, text } from './fields.ts'

/** What a file is when nobody says it; files that came in parts are always this. */
export const DEFAULT_MIME_TYPE = 'application/octet-stream'

/** Numbers that a multipart upload may give its parts. */
export const PART_NUMBERS = { least: 1, most: 10_000 } as const

/** Bytes that every part but the last has at least. */
export const LEAST_PART_BYTES = 5 * 2 ** 20

const TOKEN = "[\\w!#$%&'*+.^`|~-]{1,127}"

/** A media type without parameters. */
export const mimeTypeSchema = z.string().regex(new RegExp(`^${TOKEN}/${TOKEN}$`), 'must be of the form type/subtype')

/** How long a signed URL works: whole seconds within bounds, also as text. */
export function signatureSchema(least: number, most: number) {
  const reason = `must be a whole number of seconds from ${least} to ${most}`
  const digits = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
  return z
    .union([digits, z.number()], reason)
    .refine((value) => Number.isInteger(value) && value >= least && value <= most, reason)
}

/** Body of `POST …/file_tokens/{path}`. */
export const signFileSchema = (least: number, most: number) =>
  record({ method: oneOf(['GET']).nullish(), exp: signatureSchema(least, most).nullish() })

/** Body that completes a multipart upload: its parts in their order. */
export const completeUploadSchema = record({
  parts: list(
    record({ partNumber: integer(PART_NUMBERS.least, PART_NUMBERS.most), etag: text(1, 100) }),
    1,
    PART_NUMBERS.most,
  ),
})

/** A part as its upload is told to be made of. */
export type NamedPart = z.infer<typeof completeUploadSchema>['parts'][number]

/** Answer that names a file; with a token in it when it is signed. */
export interface FileUrl {
  readonly url: string
}

/** Answer that begins a multipart upload. */
export interface BegunUpload {
  readonly uploadId: string
}

/** Answer to a part. */
export interface TakenPart {
  readonly partNumber: number
  readonly etag: string
}

/** A file in the list of an organization. */
export interface ListedFile {
  readonly url: string
  readonly mimeType: string
  /** Bytes. */
  readonly size: number
  /** Timestamp of its last upload. */
  readonly uploaded: string
  readonly etag: string
}
