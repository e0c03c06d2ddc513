import type { Readable } from 'node:stream'
import { failureOfStatus, failureToReach } from './store-answer.ts'

/** Bytes of an answer that are read; those of stores are far shorter. */
const MOST_READ = 64 * 1024

/** A request to a store that the operator named, so no address is refused. Redirects are not followed. */
export interface StoreRequest {
  readonly method: 'PUT' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Readable | null
  readonly signal: AbortSignal
}

/** Resolves with the text of an answer with a 2xx status. Throws `UploadFailure` for any other, and without one. */
export async function askStore(url: URL, request: StoreRequest): Promise<string> {
  const undici = await import('undici')
  const { statusCode, headers, body } = await undici.request(url, request).catch((error: unknown) => {
    throw failureToReach(error)
  })
  const text = await beginningOf(body).catch((error: unknown) => {
    throw failureToReach(error)
  })
  if (statusCode >= 200 && statusCode < 300) return text
  const first = (name: string) => [headers[name]].flat()[0]
  const code = first('x-ms-error-code') ?? codeIn(text)
  throw failureOfStatus(statusCode, { code, retryAfter: first('retry-after') })
}

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > MOST_READ) break
  }
  return Buffer.concat(pieces).toString()
}

/** The code of a problem object; other answers have none. */
function codeIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { code?: unknown } | null)?.code
  } catch {
    return undefined
  }
}
