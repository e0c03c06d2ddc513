import { once } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { asAnswer, type Call, type ExchangeOptions, relay, requestTo, tooLate } from './exchange.ts'
import { requestHeaders, upgradeHeaders } from './headers.ts'
import type { Reached } from './reach.ts'
import { agree, tunnel } from './tunnel.ts'
import { within } from './within.ts'

/** Whether a request asks for a WebSocket; other protocols are not forwarded, and asking for one is no fault. */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'

/** A call on a connection that the HTTP server has given away with what it read too much; it ends with the answer. */
export function callOn(socket: Socket, request: IncomingMessage, rest: Buffer): Call {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  request.complete = true // it has no body; what follows is of the other protocol
  if (rest.length > 0) socket.unshift(rest)
  // Nobody reads from the connection yet, and its end is only told to who does.
  socket.on('readable', noticeEnd).once('end', goAway)
  return { request, response }
}

function noticeEnd(this: Socket): void {
  if (this.readableLength === 0) this.read(0)
}

function goAway(this: Socket): void {
  this.destroy()
}

/**
 * Asks an instance to change the protocol and, when it agrees, passes bytes both ways until one side ends; an answer that
 * does not agree is passed back. Throws as `exchange` does.
 */
export async function exchangeUpgraded(
  { request, response }: Call,
  reached: Reached,
  options: Pick<ExchangeOptions, 'answerMs' | 'clientMs'>,
): Promise<void> {
  const outgoing = requestTo(reached, request, [...requestHeaders(request), ...upgradeHeaders(request)])
  const either = Promise.race([once(outgoing, 'upgrade'), once(outgoing, 'response')])
  outgoing.end()
  const head: readonly unknown[] = await within(either, options.answerMs, tooLate).catch(asAnswer)
  const [answer, , first] = head as readonly [IncomingMessage, Socket?, Buffer?]
  if (!first) return relay(answer, response, options)
  const { socket: client } = request
  response.detachSocket(client)
  client.off('readable', noticeEnd).off('end', goAway)
  if (first.length > 0) reached.socket.unshift(first)
  agree(client, answer)
  await tunnel(client, reached.socket, options.clientMs)
}
