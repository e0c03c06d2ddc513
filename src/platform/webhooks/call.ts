import { Agent, request } from 'undici'
import { messageOf } from '../base/errors.ts'
import { AddressNotPublic, publicConnector } from './public-addresses.ts'
import { signatureOf } from './signature.ts'

/** Bytes of an answer that are read over; a longer one ends the connection. */
const MOST_READ = 64 * 1024

/** One attempt to deliver a message. */
export interface Call {
  readonly id: string
  readonly url: string
  readonly body: string
  /** Of the organization, at this moment. */
  readonly secret: string
}

export interface CallerOptions {
  /** Of a call, in milliseconds. */
  readonly timeoutMs: number
  /** Whether private, loopback and link-local addresses are refused. */
  readonly blockPrivate: boolean
  /** Epoch milliseconds. */
  readonly now: () => number
}

export interface Caller {
  /** Resolves when the receiver has taken the call. Throws `CallFailure`, or `signal`'s reason. */
  call(call: Call, signal: AbortSignal): Promise<void>
  /** Breaks off what is under way. */
  close(): Promise<void>
}

/** Why a receiver did not take a call, without any part of its URL. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
}

/** Makes calls as section 24.1 of the platform reference has them. */
export function createCaller({ timeoutMs, blockPrivate, now }: CallerOptions): Caller {
  const connect = blockPrivate ? publicConnector(timeoutMs) : { timeout: timeoutMs }
  // A connection for each attempt: calls are rare, and an old connection may lead where a name no longer does.
  const agent = new Agent({ connect, pipelining: 0, headersTimeout: 0 })
  return {
    async call({ secret, ...message }, outer) {
      const late = AbortSignal.timeout(timeoutMs)
      const signal = AbortSignal.any([outer, late])
      const status = await post(agent, secret, message, now(), signal).catch((cause: unknown) => {
        outer.throwIfAborted()
        throw new CallFailure(late.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(cause), { cause })
      })
      if (status >= 200 && status < 300) return
      const remark = status >= 300 && status < 400 ? ': redirects are not followed' : ''
      throw new CallFailure(`the receiver answered ${status}${remark}`)
    },
    close: () => agent.destroy(),
  }
}

async function post(
  agent: Agent,
  secret: string,
  { id, url, body }: Omit<Call, 'secret'>,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const timestamp = Math.floor(now / 1000)
  const answer = await request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'easel',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(secret, { id, timestamp, body }),
    },
    body,
    signal,
    dispatcher: agent,
  })
  void answer.body.dump({ limit: MOST_READ, signal }).catch(() => undefined) // nobody wants to know what it said
  return answer.statusCode
}

/** The code where there is one, for messages of connections tell addresses. */
function reasonOf(thrown: unknown): string {
  if (thrown instanceof AddressNotPublic) return thrown.message
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : messageOf(thrown)
  return `the receiver was not reached: ${code}`
}
