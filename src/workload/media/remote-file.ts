import type { Auth } from '../../contracts/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import { PassingFailure } from './attempts.ts'
import { type Identify, whileAt } from './identify.ts'
import type { HeadersFor, Outbound } from './outbound.ts'
import { publishedHash } from './published-hash.ts'
import { connectionFailure, statusFailure } from './remote-failure.ts'
import type { S3Objects } from './s3-objects.ts'

/** The file behind a URL, and who asks for it. */
export interface RemoteRequest {
  readonly url: string
  readonly auth: Auth | undefined
  readonly signal: AbortSignal
  /** How much of the file is here already, and the ETag or date that tells whether it is still the same. */
  readonly resume?: { readonly bytes: number; readonly validator: string } | undefined
  /** The ETag of the file that is here: when it is still the same, no body comes. */
  readonly known?: string | undefined
}

/** An answer whose body has not been read. */
export interface RemoteFile {
  /** The file is the one that `known` names. */
  readonly unchanged: boolean
  readonly body: AsyncIterable<Uint8Array>
  /** Where in the file the body begins. */
  readonly from: number
  /** Bytes of the whole file, where that was told. */
  readonly total: number | undefined
  readonly etag: string | undefined
  /** What `resume` needs another time; undefined where a file cannot be resumed. */
  readonly validator: string | undefined
  /** SHA-256 in hex, where the store publishes it. */
  readonly sha256: string | undefined
  /** Ends the connection when the body is not wanted. */
  close(): Promise<void>
}

/** Opens a file: `model-unavailable` when the other side refuses, `PassingFailure` when another attempt may help. */
export type OpenRemote = (request: RemoteRequest) => Promise<RemoteFile>

export interface RemoteDeps {
  readonly outbound: Pick<Outbound, 'get'>
  readonly identify: Identify
  readonly objects: Pick<S3Objects, 'open'>
}

/** Opens files by http, https and s3 URL. */
export function createRemote({ outbound, identify, objects }: RemoteDeps): OpenRemote {
  const overHttp = async (request: RemoteRequest): Promise<RemoteFile> => {
    const { auth, signal, resume, known } = request
    const asked = await identify(request.url, auth ? [{ url_pattern: '**', auth }] : [], signal)
    const own = whileAt(asked.url, asked.headers)
    const headersFor: HeadersFor = (at) => ({
      'accept-encoding': 'identity',
      ...(resume && { range: `bytes=${resume.bytes}-`, 'if-range': resume.validator }),
      ...(known !== undefined && { 'if-none-match': known }),
      ...own(at),
    })
    let sha256: string | undefined
    const response = await outbound.get(asked.url, signal, headersFor, ({ headers }) => {
      sha256 ??= publishedHash(headers)
    })
    const { status, headers, body } = response
    const close = async () => void (await body?.cancel())
    const etag = headers.get('etag') ?? undefined
    if (status === 304) return { ...empty, unchanged: true, etag, close }
    const part = status === 206 ? partOf(headers.get('content-range')) : undefined
    if (status === 206 ? part?.from !== (resume?.bytes ?? 0) : !response.ok) {
      await close()
      if (resume && (status === 206 || status === 416)) return overHttp({ ...request, resume: undefined })
      throw refusal(status, headers.get('retry-after'))
    }
    const length = headers.get('content-length')
    const encoded = (headers.get('content-encoding') ?? 'identity') !== 'identity'
    return {
      unchanged: false,
      body: body ?? empty.body,
      from: part?.from ?? 0,
      total: part?.total ?? (length === null || encoded ? undefined : Number(length)),
      etag,
      validator: encoded ? undefined : validatorOf(headers),
      sha256: encoded ? undefined : sha256,
      close,
    }
  }
  const overS3 = async ({ url, auth, signal, known }: RemoteRequest): Promise<RemoteFile> => {
    const { body, bytes, etag, close } = await objects.open(url, auth, signal)
    const unchanged = etag !== undefined && etag === known
    return { ...empty, unchanged, body, total: bytes, etag, close: async () => close() }
  }
  return async (request) => {
    try {
      return await (/^s3:/i.test(request.url) ? overS3(request) : overHttp(request))
    } catch (error) {
      request.signal.throwIfAborted()
      throw fetchFailure(error)
    }
  }
}

/** What went wrong on the way to a model. */
export function fetchFailure(error: unknown): WorkloadError | PassingFailure {
  const failure = connectionFailure(error)
  if (failure instanceof PassingFailure || failure.code !== 'media-unavailable') return failure
  return new WorkloadError('model-unavailable', failure.message, { cause: failure })
}

const nobody: AsyncIterator<Uint8Array> = { next: async () => ({ done: true, value: undefined }) }
const empty = {
  unchanged: false,
  body: { [Symbol.asyncIterator]: () => nobody },
  from: 0,
  total: undefined,
  etag: undefined,
  validator: undefined,
  sha256: undefined,
}

/** The bytes that a `Content-Range` announces. */
function partOf(range: string | null): { readonly from: number; readonly total: number } | undefined {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(range ?? '') ?? []
  return total === undefined ? undefined : { from: Number(from), total: Number(total) }
}

function refusal(status: number, retryAfter: string | null): Error {
  const failure = statusFailure(status)
  if (!(failure instanceof PassingFailure) || !/^\d+$/.test(retryAfter ?? '')) return failure
  return new PassingFailure(failure.message, { afterMs: Number(retryAfter) * 1000 })
}

/** A weak ETag says that a file means the same, not that it has the same bytes. */
function validatorOf(headers: { get(name: string): string | null }): string | undefined {
  const etag = headers.get('etag')
  if (etag !== null && !etag.startsWith('W/')) return etag
  return headers.get('last-modified') ?? undefined
}
