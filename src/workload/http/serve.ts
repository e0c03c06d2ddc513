import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Express } from 'express'
import type { UpgradeHandler } from './upgrade.ts'

/** Above the 100 s after which gateways drop a quiet connection, so that they and not we end it. */
const KEEP_ALIVE_MS = 105_000

export interface Listening {
  readonly port: number
  /** From now on each answer is the last of its connection. */
  announceEnd(): void
  /**
   * Takes no new connections, lets the answers in progress finish, and resolves when all connections are closed: after
   * `forceMs` by force, if given.
   */
  drain(forceMs?: number): Promise<void>
}

/** Serves `app`, and requests for another protocol with `onUpgrade`. Port 0 takes a free one. */
export async function serve(app: Express, onUpgrade: UpgradeHandler, host: string, port: number): Promise<Listening> {
  const answering = new Set<ServerResponse>()
  let ending = false
  // Without `Connection: close` a kept-alive connection holds the server open until it times out.
  const isLast = (response: ServerResponse) => void (response.headersSent || response.setHeader('connection', 'close'))

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    answering.add(response)
    response.once('close', () => answering.delete(response))
    if (ending) isLast(response)
    app(request, response)
  })
  server.on('upgrade', onUpgrade)
  const announceEnd = () => {
    ending = true
    answering.forEach(isLast)
  }
  // Without a host Node takes `::`, which is every address, and `0.0.0.0` where a machine has no IPv6.
  server.listen(port, host === '::' ? undefined : host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // a server that listens on a port has one
    announceEnd,
    async drain(forceMs) {
      announceEnd()
      const late = forceMs === undefined ? undefined : setTimeout(() => server.closeAllConnections(), forceMs)
      await new Promise((resolve) => server.close(resolve))
      clearTimeout(late)
    },
  }
}
