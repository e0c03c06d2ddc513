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
export const fileUrlSchema = z.strictObject({ url: z.url() })

/** Answer that begins a multipart upload. */
export const begunUploadSchema = z.strictObject({ uploadId: z.string().min(1) })

const etag = z.string().min(1)

/** Answer to a part. */
export const takenPartSchema = z.strictObject({
  partNumber: z.number().int().min(PART_NUMBERS.least).max(PART_NUMBERS.most),
  etag,
})

const listedFileSchema = z.strictObject({
  url: z.url(),
  mimeType: mimeTypeSchema,
  /** Bytes. */
  size: z.number().int().min(0),
  /** Of its last upload. */
  uploaded: z.iso.datetime(),
  etag,
})

/** The files of an organization, by path. */
export const fileListSchema = z.strictObject({ files: z.array(listedFileSchema).max(1000) })

export type FileUrl = z.infer<typeof fileUrlSchema>
export type BegunUpload = z.infer<typeof begunUploadSchema>
export type TakenPart = z.infer<typeof takenPartSchema>
export type ListedFile = z.infer<typeof listedFileSchema>
