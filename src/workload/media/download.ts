import { setTimeout as pause } from 'node:timers/promises'
import type { Response } from 'undici'
import { messageOf, WorkloadError } from '../base/errors.ts'
import type { Outbound } from './outbound.ts'

const TOTAL_MS = 5 * 60_000
const ATTEMPTS = 3
const FIRST_PAUSE_MS = 250

/**
 * The bytes behind `url`. Connection failures and the statuses 408, 429 and 5xx are tried again. Throws
 * `url-not-allowed`, `media-too-large` (before reading where the length is declared) or `media-unavailable`, whose
 * sentence has the remote status.
 */
export async function download(outbound: Outbound, url: string, maxBytes: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(TOTAL_MS)
  for (let attempt = 1; ; attempt++) {
    const last = attempt === ATTEMPTS
    try {
      const response = await outbound.get(url, signal)
      if (response.ok) return await readBody(response, maxBytes)
      await response.body?.cancel()
      if (last || !isPassing(response.status))
        throw new WorkloadError('media-unavailable', `the URL answered with status ${response.status}`)
    } catch (error) {
      if (error instanceof WorkloadError) throw error
      if (last || signal.aborted) throw new WorkloadError('media-unavailable', unreachable(error), { cause: error })
    }
    await pause(FIRST_PAUSE_MS * 2 ** attempt)
  }
}

const isPassing = (status: number) => status === 408 || status === 429 || status >= 500

async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new WorkloadError('media-too-large', `an image may have ${maxBytes} bytes at most`)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel()
    throw tooLarge()
  }
  const parts: Uint8Array[] = []
  let length = 0
  // Leaving the loop cancels the rest of the body.
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > maxBytes) throw tooLarge()
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}

/** Why there was no answer, without the URL: it may hold a secret. */
function unreachable(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : messageOf(cause)
  return `the URL could not be read: ${code}`
}
