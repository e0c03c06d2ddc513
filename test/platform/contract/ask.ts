import { once } from 'node:events'
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as open } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request as it goes out: nothing is added to it but the host and the length of its body. */
export interface Sent {
  /** Scheme, host and port. */
  readonly to: string
  readonly method: string
  /** With its query. */
  readonly path: string
  /** A list is sent as a header given several times. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Buffer | string | undefined
  /** A length of the body that is told, after which nothing comes; in bytes. */
  readonly announced?: number | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Sends a request and reads all of the answer. */
export async function ask(agent: Agent, { to, method, path, headers, body, announced }: Sent): Promise<Answer> {
  const length = announced ?? (body === undefined ? undefined : Buffer.byteLength(body))
  const lists = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]])
  const request = open(to, {
    method,
    path,
    // What is announced and never comes leaves a connection that is good for nothing else.
    agent: announced === undefined ? agent : false,
    headers: { ...Object.fromEntries(lists), ...(length !== undefined && { 'content-length': length }) },
  })
  if (announced === undefined) request.end(body)
  else request.flushHeaders()
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    return { status: response.statusCode!, headers: response.headers, bytes: await buffer(response) } // it has a status
  } finally {
    if (announced !== undefined) request.destroy()
  }
}

/** Sends text as it is, on a connection of its own, and reads what comes back as an answer of HTTP. */
export async function sendText(to: string, text: string): Promise<Answer> {
  const { hostname, port } = new URL(to)
  const socket = connect(Number(port), hostname)
  // What comes after the refusal of a head that is too long is not taken any more.
  socket.on('error', () => undefined)
  socket.write(text)
  const bytes = await buffer(socket)
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = String(bytes.subarray(0, end)).split('\r\n')
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ])
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), bytes: bytes.subarray(end + 4) }
}
