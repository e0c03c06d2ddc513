import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Gives a request that asked for a protocol nobody speaks here, such as h2c, to `server`, which ignores the wish: HTTP
 * lets a server do so, and some clients ask with every request. What Node's HTTP server has read is put back before.
 */
export function plainAgain(server: Server, request: IncomingMessage, socket: Socket, rest: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 && !/^upgrade$/i.test(name) ? `${name}: ${rawHeaders[i + 1]}\r\n` : [],
  )
  const head = `${method} ${url} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`
  socket.unshift(Buffer.concat([Buffer.from(head, 'latin1'), rest]))
  server.emit('connection', socket)
}
