import { once } from 'node:events'
import { connect } from 'node:http2'

const SERVING = Buffer.from([0x08, 0x01])
/** Whether it is compressed, and how long the message is. */
const PREFIX_BYTES = 5

/** Asks the standard health service over HTTP/2 whether `service` serves; its two messages have one field each. */
export async function checkGrpc(service: string, port: number, signal: AbortSignal): Promise<boolean> {
  const session = connect(`http://localhost:${port}`)
  const end = (): void => session.destroy()
  signal.addEventListener('abort', end)
  try {
    await once(session, 'connect', { signal })
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.end(requestFor(service))
    const pieces: Buffer[] = []
    for await (const piece of stream) pieces.push(piece)
    return Buffer.concat(pieces).subarray(PREFIX_BYTES).equals(SERVING)
  } finally {
    signal.removeEventListener('abort', end)
    session.destroy()
  }
}

function requestFor(service: string): Buffer {
  const name = Buffer.from(service)
  const size = name.length < 128 ? [name.length] : [(name.length & 127) | 128, name.length >> 7]
  const message = Buffer.concat(name.length > 0 ? [Buffer.from([0x0a, ...size]), name] : [])
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
