import { unlessAborted } from '../base/abort.ts'
import { bytesOf, piecesOf, type UnreadJson } from '../base/json-pieces.ts'
import { asCallFailure, CallFailure } from './call-failure.ts'
import { callLimits } from './call-limits.ts'
import { retryAfterOf } from './retry-schedule.ts'
import { type SigningKeys, signatureOf } from './signature.ts'

/** Sends a body of known length piece by piece to a URL that a client named; redirects are not followed. */
export type StreamTo = (
  url: string,
  request: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: AsyncIterable<Uint8Array>
    readonly bytes: number
    readonly signal: AbortSignal
  },
) => Promise<{ readonly status: number; readonly headers: { get(name: string): string | null } }>

/** What it takes to call a receiver. */
export interface Caller {
  readonly stream: StreamTo
  /** Empty: calls carry no signature. */
  readonly keys: SigningKeys
  readonly timeoutMs: number
  /** Epoch milliseconds. */
  now(): number
}

/** One POST of JSON. */
export interface WebhookCall {
  readonly url: string
  readonly body: UnreadJson
  /** What the receiver tells repeated calls by; without one the call is the plain, unsigned kind. */
  readonly webhookId: string | undefined
}

/**
 * Makes one attempt and resolves with the status of success. The files are read twice, once to sign and once to send, and
 * never faster than the receiver takes them. Throws `CallFailure`, or `signal`'s reason.
 */
export async function callReceiver(call: WebhookCall, caller: Caller, signal: AbortSignal): Promise<number> {
  try {
    const headers = { ...plainHeaders, ...(await idHeaders(call, caller, signal)) }
    const { status, headers: answer } = await post(call, headers, caller, signal)
    if (status >= 200 && status < 300) return status
    const asks = status === 429 || status === 503
    throw new CallFailure(`the receiver answered ${status}${remarkOn(status)}`, {
      status,
      final: status === 410,
      retryAfter: asks ? retryAfterOf(answer.get('retry-after'), caller.now()) : undefined,
    })
  } catch (error) {
    signal.throwIfAborted()
    throw asCallFailure(error)
  }
}

const plainHeaders = { 'content-type': 'application/json', 'user-agent': 'easel' }

function remarkOn(status: number): string {
  if (status === 410) return ': it wants no more calls'
  return status >= 300 && status < 400 ? ': redirects are not followed' : ''
}

async function idHeaders({ webhookId: id, body }: WebhookCall, { keys, now }: Caller, signal: AbortSignal) {
  if (id === undefined) return {}
  const seconds = Math.floor(now() / 1000)
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds) }
  if (keys.length === 0) return headers
  return { ...headers, 'webhook-signature': await signatureOf(keys, { id, seconds, pieces: piecesOf(body) }, signal) }
}

async function post(
  { url, body }: WebhookCall,
  headers: Readonly<Record<string, string>>,
  { stream, timeoutMs }: Caller,
  outer: AbortSignal,
) {
  const bytes = bytesOf(body)
  const { signal, moved, end } = callLimits(bytes, timeoutMs, outer)
  try {
    // A client of HTTP may hear the signal only when it has a connection.
    return await unlessAborted(
      stream(url, { method: 'POST', headers, body: encoded(piecesOf(body), moved), bytes, signal }),
      signal,
    )
  } finally {
    end()
  }
}

/** The bytes of each piece; `onAsked` is called before each, and so first when there is a connection that wants it. */
async function* encoded(pieces: AsyncIterable<string>, onAsked: () => void): AsyncGenerator<Uint8Array> {
  onAsked()
  for await (const piece of pieces) {
    yield Buffer.from(piece)
    onAsked()
  }
}
