import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ProblemShape, refuseMalformed } from './refuse-malformed.ts'

/** Above the 100 s after which gateways drop a quiet connection, so that they and not we end it. */
const KEEP_ALIVE_MS = 105_000

/** A port that is ours; requests wait until there is something that answers them. */
export interface Listening {
  readonly port: number
  /** For upgrades. */
  readonly server: Server
  /** From now on `app` answers. An address may have to be known before what answers under it can be made. */
  answer(app: RequestListener): void
  /** From now on what is no HTTP is told so in the words of the surface; before, such connections are just ended. */
  refuseAs(shape: ProblemShape): void
  /** Takes no new connections and resolves when all are closed, those that are still open after `graceMs` by force. */
  close(graceMs: number): Promise<void>
}

/** Listens on `host`; port 0 takes a free one. */
export async function listen(host: string, port: number): Promise<Listening> {
  let answer: (app: RequestListener) => void = () => undefined
  const answering = new Promise<RequestListener>((resolve) => {
    answer = resolve
  })
  let shape: ProblemShape | undefined
  const receive: RequestListener = (request, response) => {
    if (!server.listening) response.setHeader('connection', 'close')
    void answering.then((app) => app(request, response))
  }
  // Node would answer some requests itself, and without a problem.
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requireHostHeader: false }, receive)
    .on('checkExpectation', receive)
    .on('clientError', (error, socket) => {
      if (shape) refuseMalformed(error, socket, shape)
      else socket.destroy()
    })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // a server that listens on a port has one
    server,
    answer,
    refuseAs(next) {
      shape = next
    },
    async close(graceMs) {
      const late = setTimeout(() => server.closeAllConnections(), graceMs)
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(late)
    },
  }
}
