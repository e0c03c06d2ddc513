import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { outbound } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const MEGABYTE = 2 ** 20
const { signal } = new AbortController()

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const each of texts) yield Buffer.from(each)
}

/** So many megabytes, and how many of them were asked for. */
function large(megabytes: number) {
  const state = { asked: 0, ended: false }
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (; state.asked < megabytes; state.asked++) yield Buffer.alloc(MEGABYTE)
    } finally {
      state.ended = true
    }
  }
  return { state, body: body(), bytes: megabytes * MEGABYTE }
}
const post = (url: string, body: AsyncIterable<Uint8Array>, bytes: number, headers = {}, ended = signal) =>
  outbound.stream(url, { method: 'POST', headers, body, bytes, signal: ended })

/** Speaks no HTTP of its own: `answer` has the socket once the first bytes of a request came. */
async function rawSite(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => answer(socket))
    onTestFinished(() => void socket.destroy())
  }).listen(0, '127.0.0.2')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.2:${(server.address() as { port: number }).port}`
}

describe('a body in pieces', () => {
  it('arrives whole, with its length and the headers, and the answer is a status', async () => {
    let seen: unknown
    const { url } = await listen(async (request, response) => {
      const { 'content-length': length, 'transfer-encoding': encoding, 'x-kind': kind } = request.headers
      seen = [request.method, request.url, length, encoding, kind, await text(request)]
      response.writeHead(201, { 'retry-after': '7' }).end('read by nobody')
    })
    const { status, headers } = await post(`${url}/a`, pieces('one ', 'two ', 'thr€€'), 17, { 'X-Kind': 'k' })
    expect(seen).toEqual(['POST', '/a', '17', undefined, 'k', 'one two thr€€'])
    expect([status, headers.get('retry-after'), headers.get('x-none')]).toEqual([201, '7', null])
  })

  it('is sent no faster than it is taken', async () => {
    let socket: Socket | undefined
    const url = await rawSite((opened) => {
      socket = opened.pause()
    })
    const { state, body, bytes } = large(200)
    const stop = new AbortController()
    const pending = post(url, body, bytes, {}, stop.signal).catch((error: unknown) => error)
    await expect.poll(() => socket !== undefined).toBe(true)
    const counts: number[] = []
    const isSteady = () => counts.push(state.asked) > 1 && counts.at(-1) === counts.at(-2)
    await expect.poll(isSteady, { interval: 100 }).toBe(true) // the buffers of both sides are full
    expect(state.asked).toBeLessThan(50)
    stop.abort(new Error('enough'))
    expect(await pending).toMatchObject({ message: 'enough' })
    await expect.poll(() => state.ended).toBe(true)
  })

  it('has the user part of its URL as a header, unless it brings its own', async () => {
    const seen: (string | undefined)[] = []
    const { url } = await listen(({ headers }, response) => {
      seen.push(headers.authorization)
      response.end()
    })
    const asked = url.replace('//', '//user:pass@')
    const auth = `Basic ${Buffer.from('user:pass').toString('base64')}`
    for (const headers of [{}, { Authorization: 'Bearer t' }]) {
      await post(asked, pieces('x'), 1, headers)
      await outbound.send(asked, { method: 'POST', headers, body: 'x', signal })
    }
    expect(seen).toEqual([auth, auth, 'Bearer t', 'Bearer t'])
  })

  it('goes to no address that is not public, and follows no redirect', async () => {
    const { port, url } = await listen((_, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
    })
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '169.254.169.254']) {
      const { state, body, bytes } = large(1)
      await expect(post(`http://${host}:${port}/`, body, bytes)).rejects.toMatchObject({ code: 'url-not-allowed' })
      expect(state.asked).toBe(0)
    }
    expect((await post(url, pieces('x'), 1)).status).toBe(307)
    expect((await outbound.send(url, { method: 'PUT', body: 'x', signal })).status).toBe(307)
  })

  it('may be refused before it was sent, which ends it', async () => {
    for (const connection of ['keep-alive', 'close']) {
      const url = await rawSite((socket) => {
        socket.end(`HTTP/1.1 413 Too Large\r\nConnection: ${connection}\r\nContent-Length: 0\r\n\r\n`)
      })
      const { state, body, bytes } = large(200)
      expect((await post(url, body, bytes)).status).toBe(413)
      await expect.poll(() => state.ended).toBe(true)
      expect(state.asked).toBeLessThan(200)
    }
  })

  it.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['resets the connection', (socket) => socket.resetAndDestroy()],
    ['speaks something else', (socket) => socket.end('220 smtp.test ready\r\n')],
  ])('fails when the receiver %s in the middle, and nothing else does', async (_, answer) => {
    const url = await rawSite(answer)
    const { state, body, bytes } = large(200)
    await expect(post(url, body, bytes)).rejects.toThrow()
    await expect.poll(() => state.ended).toBe(true)
  })

  it('fails with its own error, and when it is shorter or longer than was said', async () => {
    const { url } = await listen((request, response) => void request.resume().on('end', () => response.end()))
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('x')
      throw new Error('the file is gone')
    }
    await expect(post(url, broken(), 5)).rejects.toThrow('the file is gone')
    for (const bytes of [2, 4])
      await expect(post(url, pieces('x', 'y', 'z'), bytes)).rejects.toMatchObject({
        code: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
      })
    expect((await post(url, pieces('x', 'y', 'z'), 3)).status).toBe(200)
  })

  it('does not wait for the end of an endless answer', async () => {
    let closed = false
    const { url } = await listen((_, response) => {
      response.on('close', () => {
        closed = true
      })
      const more = (): void =>
        void (response.destroyed || response.write(Buffer.alloc(MEGABYTE), () => setImmediate(more)))
      more()
    })
    expect((await post(url, pieces('x'), 1)).status).toBe(200)
    await expect.poll(() => closed).toBe(true)
  })
})
