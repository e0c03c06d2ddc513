import { setTimeout as pause } from 'node:timers/promises'
import type { Response } from 'undici'
import { WorkloadError } from '../base/errors.ts'
import { PassingFailure } from './attempts.ts'
import { type IdentifiedRequest, whileAt } from './identify.ts'
import type { HeadersFor, Outbound } from './outbound.ts'
import { connectionFailure, statusFailure } from './remote-failure.ts'
import type { S3Object } from './s3-objects.ts'

const TOTAL_MS = 5 * 60_000
const ATTEMPTS = 3

export interface DownloadOptions {
  readonly maxBytes: number
  /** Pauses between attempts double from this one on. */
  readonly firstPauseMs: number
  readonly signal: AbortSignal
}

/** The bytes behind a URL and what it takes to ask whether they are still the same. */
export interface Download {
  readonly bytes: Buffer
  readonly etag: string | undefined
  readonly lastModified: string | undefined
  /** Where the bytes came from when redirects led there; undefined without any. */
  readonly redirected: string | undefined
  /** Whether the other side lets nobody keep them. */
  readonly noStore: boolean
}

/**
 * The bytes behind a URL. Connection failures and the statuses 408, 429 and 5xx are tried again. `conditions` are headers
 * that ask whether something changed, for each of the addresses on the way; `unchanged` is the answer that nothing did.
 * Throws `url-not-allowed`, `media-too-large` (before reading where the length is declared), `media-unavailable`, whose
 * sentence has the remote status, or the reason of the signal.
 */
export function download(
  outbound: Pick<Outbound, 'get'>,
  { url, headers }: IdentifiedRequest,
  options: DownloadOptions,
  conditions: HeadersFor = () => ({}),
): Promise<Download | 'unchanged'> {
  return patiently(options, async (signal) => {
    const own = whileAt(url, headers)
    const response = await outbound.get(url, signal, (at) => ({ ...own(at), ...conditions(at) }))
    if (response.status === 304) return 'unchanged'
    if (!response.ok) {
      await response.body?.cancel()
      throw statusFailure(response.status)
    }
    const told = (name: string) => response.headers.get(name) ?? undefined
    return {
      bytes: await readBody(response, options.maxBytes),
      etag: told('etag'),
      lastModified: told('last-modified'),
      redirected: response.url === new URL(url).href.split('#', 1)[0] ? undefined : response.url,
      noStore: /(^|[\s,])no-store\b/i.test(told('cache-control') ?? '') || told('vary') === '*',
    }
  })
}

/** The same for an object of a store; `isKnown` says of its ETag whether its bytes are here, and then it is not read. */
export function downloadObject(
  open: (signal: AbortSignal) => Promise<S3Object>,
  options: DownloadOptions,
  isKnown: (etag: string) => boolean = () => false,
): Promise<{ readonly bytes: Buffer; readonly etag: string | undefined } | 'unchanged'> {
  const { maxBytes } = options
  return patiently(options, async (ended) => {
    const { body, bytes, etag, close } = await open(ended)
    const known = etag !== undefined && isKnown(etag)
    if (known || (bytes ?? 0) > maxBytes) close()
    if (known) return 'unchanged'
    return { bytes: await readPieces(body, maxBytes, bytes), etag }
  })
}

/** `work`, tried again a few times after failures that may pass. */
async function patiently<T>(
  { signal, firstPauseMs }: DownloadOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)])
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(ended)
    } catch (error) {
      signal.throwIfAborted()
      const failure = connectionFailure(error)
      if (!(failure instanceof PassingFailure)) throw failure
      if (attempt === ATTEMPTS || ended.aborted)
        throw new WorkloadError('media-unavailable', failure.message, { cause: failure })
    }
    await pause(firstPauseMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const declared = Number(response.headers.get('content-length') ?? 0)
  if (declared > maxBytes) await response.body?.cancel()
  return readPieces(response.body ?? [], maxBytes, declared)
}

/** Leaving the loop ends the connection. */
async function readPieces(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  maxBytes: number,
  declared = 0,
): Promise<Buffer> {
  const tooLarge = () => new WorkloadError('media-too-large', `an image may have ${maxBytes} bytes at most`)
  if (declared > maxBytes) throw tooLarge()
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > maxBytes) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}
