import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { z } from 'zod'
import type { StorageUpload } from '../../../contracts/upload.ts'
import { askStore, type StoreRequest } from '../ask-store.ts'
import { rangesOf, sendFile } from '../send-file.ts'
import { notConfigured, type OutputFile, UploadFailure, type UploadTarget } from '../target.ts'

/** The store takes 100 MiB a request, of which the form around a file is a little. */
const MOST_AT_ONCE = 90 * 2 ** 20
/** Parts must have 5 MiB at least. */
const PART_BYTES = 32 * 2 ** 20
/** How long telling the store to forget an upload may take. */
const ABORT_MS = 10_000

export interface StorageSettings {
  readonly url: string | undefined
  readonly organization: string | undefined
  /** Without one this server shows the identity that its machine gives it. */
  readonly apiKey: string | undefined
}

/** Gives a token that tells the store which server asks. */
export type IdentityToken = (signal: AbortSignal) => Promise<string>

const stored = z.object({ url: z.url() })
const begun = z.object({ uploadId: z.string().min(1) })
const taken = z.object({ etag: z.string().min(1) })

/** Files of an organization in the platform's storage API. */
export function storageTarget(settings: StorageSettings, token: IdentityToken): UploadTarget<StorageUpload> {
  const { url, organization, apiKey } = settings
  const identify = async (signal: AbortSignal): Promise<Readonly<Record<string, string>>> => {
    if (apiKey !== undefined) return { 'service-api-key': apiKey }
    const bearer = await token(signal).catch((cause: unknown) => {
      throw new UploadFailure('this machine gave no identity token', { passing: true, cause })
    })
    return { authorization: `Bearer ${bearer}` }
  }
  return {
    type: 'storage',
    open(options) {
      if (url === undefined) throw notConfigured('storage', 'this server has no STORAGE_URL')
      if (organization === undefined) throw notConfigured('storage', 'this server has no STORAGE_ORGANIZATION')
      const base = `${url.replace(/\/+$/, '')}/organizations/${encodeURIComponent(organization)}`
      const placeOf = (filename: string) => options.prefix + filename
      return {
        placeOf,
        async put(file, signal) {
          const path = placeOf(file.filename).split('/').map(encodeURIComponent).join('/')
          const identity = await identify(signal)
          const ask: Ask = async (answer, method, resource, { headers, body = null, query = {}, ended = signal }) => {
            const at = new URL(`${base}/${resource}/${path}?${new URLSearchParams(query)}`)
            return read(
              answer,
              await askStore(at, { method, headers: { ...identity, ...headers }, body, signal: ended }),
            )
          }
          return file.bytes > MOST_AT_ONCE ? putInParts(file, options, ask) : putForm(file, options, ask)
        },
      }
    },
  }
}

/** Asks for an operation on the file and reads its answer. */
type Ask = <T>(
  answer: z.ZodType<T>,
  method: StoreRequest['method'],
  resource: 'files' | 'file_parts' | 'file_tokens',
  request: {
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: StoreRequest['body']
    readonly query?: Readonly<Record<string, string>>
    readonly ended?: AbortSignal
  },
) => Promise<T>

function read<T>(answer: z.ZodType<T>, text: string): T {
  const json = z.preprocess((value, context) => {
    try {
      return JSON.parse(String(value) || 'null')
    } catch {
      context.addIssue('no JSON')
      return z.NEVER
    }
  }, answer)
  const parsed = json.safeParse(text)
  if (parsed.success) return parsed.data
  throw new UploadFailure('the store answered in a form that is not known', { passing: false })
}

async function putForm(file: OutputFile, { sign, signature_exp }: StorageUpload, ask: Ask): Promise<string> {
  const boundary = randomUUID()
  const fields = {
    mimeType: file.mime,
    sign: String(sign),
    ...(sign && signature_exp !== undefined && { signatureExp: String(signature_exp) }),
  }
  const part = (name: string, more = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
  const head = Object.entries(fields).map(([name, value]) => `${part(name)}${value}\r\n`)
  const before = `${head.join('')}${part('file', `; filename="file"\r\nContent-Type: ${file.mime}`)}`
  const after = `\r\n--${boundary}--\r\n`
  const headers = {
    'content-type': `multipart/form-data; boundary=${boundary}`,
    'content-length': String(Buffer.byteLength(before) + file.bytes + Buffer.byteLength(after)),
  }
  const { url } = await sendFile(file.path, async (pieces) => {
    const body = Readable.from(
      (async function* () {
        yield Buffer.from(before)
        yield* pieces
        yield Buffer.from(after)
      })(),
    )
    return ask(stored, 'PUT', 'files', { headers, body })
  })
  return url
}

async function putInParts(file: OutputFile, { sign, signature_exp }: StorageUpload, ask: Ask): Promise<string> {
  const { uploadId } = await ask(begun, 'PUT', 'files', { query: { action: 'mpu-create' } })
  const json = { 'content-type': 'application/json' }
  let url: string
  try {
    const parts: { partNumber: number; etag: string }[] = []
    for (const [i, range] of rangesOf(file.bytes, PART_BYTES).entries()) {
      const query = { partNumber: String(i + 1), uploadId }
      const headers = { 'content-length': String(range.end - range.start), 'content-type': 'application/octet-stream' }
      const send = (body: Readable) => ask(taken, 'PUT', 'file_parts', { query, headers, body })
      const { etag } = await sendFile(file.path, send, range)
      parts.push({ partNumber: i + 1, etag })
    }
    const query = { action: 'mpu-complete', uploadId }
    ;({ url } = await ask(stored, 'PUT', 'files', { query, headers: json, body: JSON.stringify({ parts }) }))
  } catch (error) {
    const query = { action: 'mpu-abort', uploadId }
    // One that is not told forgets after a week; the job may have ended, so this has a time of its own.
    await ask(z.unknown(), 'DELETE', 'files', { query, ended: AbortSignal.timeout(ABORT_MS) }).catch(() => undefined)
    throw error
  }
  if (!sign) return url
  const body = JSON.stringify({ method: 'GET', ...(signature_exp !== undefined && { exp: String(signature_exp) }) })
  return (await ask(stored, 'POST', 'file_tokens', { headers: json, body })).url
}
