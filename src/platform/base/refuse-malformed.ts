import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from '../../contracts/platform/problem.ts'
import { PlatformError } from './errors.ts'

/** The body of an error on one surface. */
export type ProblemShape = (error: PlatformError, requestId: string) => Problem

/** Answers what is no HTTP, has too long a head, or does not come to its end; the connection ends with it. */
export function refuseMalformed(thrown: Error, socket: Duplex, shape: ProblemShape): void {
  if (!socket.writable || ('code' in thrown && thrown.code === 'ECONNRESET')) return void socket.destroy()
  const id = randomUUID()
  const body = JSON.stringify(shape(new PlatformError(400, 'The request could not be read.', { cause: thrown }), id))
  const head = [
    `HTTP/1.1 400 ${STATUS_CODES[400]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${id}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
