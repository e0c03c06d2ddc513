import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http'
import { PlatformError } from '../base/errors.ts'
import { answerHeaders } from './headers.ts'
import { type OnPiece, type Patience, pump } from './pump.ts'
import type { Reached } from './reach.ts'
import { within } from './within.ts'

/** A request of a client, and where its answer goes. */
export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export interface ExchangeOptions {
  /** The group's `server_response_timeout`, in milliseconds. */
  readonly answerMs: number
  /** How long a client may neither send nor take anything, in milliseconds. */
  readonly clientMs: number
  /** Sees each piece of the body, and throws when there are too many. */
  readonly onPiece: OnPiece
}

/** The client is there and does nothing. */
export class ClientSilent extends Error {
  override readonly name = 'ClientSilent'
}

/** A request for an instance, on a connection that is used for nothing else. */
export function requestTo({ socket }: Reached, { method, url }: IncomingMessage, headers: string[]): ClientRequest {
  // The type of the headers is that of an object; a list of names and values in turn keeps their case and order.
  const options = { method, path: url, headers: headers as never, createConnection: () => socket }
  // Whoever waits for an answer hears of faults before it; those after it break the answer off.
  return open(options).on('error', () => undefined)
}

/**
 * Passes a request on and its answer back, both as they come. Throws 413, 524, 503 when the instance breaks off before it
 * answers, and `ClientSilent`. Where the head of the answer has gone out before, the answer is not whole.
 */
export async function exchange(call: Call, outgoing: ClientRequest, options: ExchangeOptions): Promise<void> {
  const { answerMs: ms, onPiece } = options
  const sides = { source: patienceWithClient(options), sink: { ms, late: tooLate } }
  const sent = pump(call.request, outgoing, sides, onPiece).then(() => outgoing.end())
  const head = once(outgoing, 'response').then(([answer]) => answer as IncomingMessage)
  // An answer may begin before all of the request has gone.
  const answer = await Promise.race([head, sent.then(() => within(head, ms, tooLate))]).catch(asAnswer)
  // Then the rest need not arrive, but a body without end is refused all the same.
  sent.catch((error: unknown) => {
    if (error instanceof PlatformError && error.status === 413) outgoing.destroy()
  })
  await relay(answer, call.response, options)
}

/** Passes an answer back as it comes. */
export async function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  options: Pick<ExchangeOptions, 'answerMs' | 'clientMs'>,
): Promise<void> {
  response.writeHead(answer.statusCode ?? 0, answer.statusMessage, answerHeaders(answer))
  response.flushHeaders()
  await pump(answer, response, {
    source: { ms: options.answerMs, late: tooLate },
    sink: patienceWithClient(options),
  })
  response.end()
}

/** The error of a head that did not come in time. */
export const tooLate = (): PlatformError => new PlatformError(524, 'The container did not respond in time.')

/** Throws what kept an instance from answering, in the words of the wire. */
export function asAnswer(thrown: unknown): never {
  if (thrown instanceof PlatformError || thrown instanceof ClientSilent) throw thrown
  throw new PlatformError(503, 'The container closed the connection before it responded.', { cause: thrown })
}

const patienceWithClient = ({ clientMs: ms }: Pick<ExchangeOptions, 'clientMs'>): Patience => ({
  ms,
  late: () => new ClientSilent('the client neither sends nor takes anything'),
})
