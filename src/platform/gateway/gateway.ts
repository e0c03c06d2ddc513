import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { problemOf } from '../base/problem.ts'
import { refuseMalformed } from '../base/refuse-malformed.ts'
import { type AdmitServices, admit, atMost } from './admit.ts'
import { createBalancer } from './balancer.ts'
import { type Call, exchange, requestTo } from './exchange.ts'
import type { Target } from './group.ts'
import { requestHeaders } from './headers.ts'
import { plainAgain } from './plain-again.ts'
import { type Reached, reach } from './reach.ts'
import { type RefuseOptions, refuse } from './refuse.ts'
import { asksForWebSocket, callOn, exchangeUpgraded } from './upgrade.ts'

export interface GatewayServices extends AdmitServices, RefuseOptions {
  /** The instances of a group that are running and ready. Asked often: it must answer from memory. */
  targetsOf(groupId: string): readonly Target[]
  readonly settings?: Partial<GatewaySettings>
}

export interface GatewaySettings {
  /** Longest body of a request, in bytes. */
  readonly maxBody: number
  /**
   * How long a client may neither send nor take anything, and a WebSocket may carry nothing, in milliseconds. How long
   * instances may take is for each group to say.
   */
  readonly idleMs: number
}

/** Where clients reach the workloads (platform reference, section 23). */
export interface Gateway {
  /** Resolves with the port, which is a free one where 0 is given. Without a host it listens on every address. */
  listen(port: number, host?: string): Promise<number>
  /** Accepts nothing more and ends what is open. */
  close(): Promise<void>
}

/** The head of a request takes no longer, in milliseconds; its body may. */
const HEAD_MS = 60_000

const defaults: GatewaySettings = { maxBody: 2 ** 30, idleMs: 100_000 }

export function createGateway(services: GatewayServices): Gateway {
  const { maxBody, idleMs: clientMs } = { ...defaults, ...services.settings }
  const balancer = createBalancer(services.targetsOf)

  /** Finds an instance for the call and lets `work` use it; when the client goes away, so does the connection. */
  const serve = async (call: Call, work: (reached: Reached, answerMs: number) => Promise<void>): Promise<void> => {
    const gone = new AbortController()
    call.response.once('close', () => gone.abort(new Error('the client went away')))
    call.response.on('error', () => undefined) // that of a client that went away
    try {
      const group = await admit(call.request, services, maxBody)
      const reached = await reach(group, balancer, gone.signal)
      const cut = () => reached.socket.destroy()
      gone.signal.addEventListener('abort', cut)
      if (gone.signal.aborted) cut()
      await work(reached, group.networking.server_response_timeout).finally(reached.leave)
    } catch (error) {
      refuse(call, error, services)
    }
  }

  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    void serve({ request, response }, (reached, answerMs) => {
      if (/^100-continue$/i.test(request.headers.expect ?? '')) response.writeContinue()
      const outgoing = requestTo(reached, request, requestHeaders(request))
      return exchange({ request, response }, outgoing, { answerMs, clientMs, onPiece: atMost(maxBody) })
    })
  }
  const createForwarder = () =>
    createServer({ requestTimeout: 0, headersTimeout: HEAD_MS, requireHostHeader: false }, forward)
      .on('checkContinue', forward)
      .on('checkExpectation', forward)
      .on('clientError', (error, socket) =>
        refuseMalformed(error, socket, (refusal, id) => problemOf(refusal, services.baseUrl, id)),
      )

  const plain = createForwarder()
  const server = createForwarder()
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('upgrade', (request, stream, rest) => {
    const socket = stream as Socket // a server of HTTP over TCP has no other kind
    if (!asksForWebSocket(request)) return plainAgain(plain, request, socket, rest)
    const call = callOn(socket, request, rest)
    void serve(call, (reached, answerMs) => exchangeUpgraded(call, reached, { answerMs, clientMs }))
  })

  return {
    async listen(port, host) {
      await once(server.listen(port, host), 'listening')
      return (server.address() as AddressInfo).port
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}
