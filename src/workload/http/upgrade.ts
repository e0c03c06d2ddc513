import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { keyCheck } from './api-key.ts'
import type { Clients } from './comfy/clients.ts'
import { newClientId } from './comfy/comfy-body.ts'
import { isFromForeignPage } from './foreign-page.ts'

/** Clients say little. */
const MAX_MESSAGE_BYTES = 1 << 16
/** Names of clients that are longer are not taken over. */
const LONGEST_ID = 256

/** Answers requests for another protocol. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** `/ws` and `/api/ws`: gives connections to `clients`, under the same rules as requests. */
export function createUpgradeHandler(clients: Clients, apiKey: string | undefined): UpgradeHandler {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  const hasKey = apiKey === undefined ? () => true : keyCheck(apiKey)
  return (request, socket, head) => {
    const target = `http://server${request.url}`
    const url = URL.canParse(target) ? new URL(target) : undefined
    // A connection that breaks before it is one concerns nobody.
    socket.on('error', () => socket.destroy())
    if (!hasKey(request) || isFromForeignPage(request)) return refuse(socket, '403 Forbidden')
    if (url?.pathname !== '/ws' && url?.pathname !== '/api/ws') return refuse(socket, '404 Not Found')
    const id = url.searchParams.get('clientId')?.slice(0, LONGEST_ID) || newClientId()
    server.handleUpgrade(request, socket, head, (opened) => clients.accept(opened, id))
  }
}

const refuse = (socket: Duplex, status: string): void =>
  void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
