import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Site {
  readonly port: number
  /** At 127.0.0.2, a loopback address that tests make an exception for while the others stay forbidden. */
  readonly url: string
}

/** A server on every local address and a free port, for the length of one test. */
export async function listen(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Site> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '::')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  return { port, url: `http://127.0.0.2:${port}` }
}
