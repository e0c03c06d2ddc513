import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { ask, begin, gatewayTo, HOST, instance } from '../../support/gateway.ts'

/** An instance that says every message back. */
async function echo() {
  const target = await instance('a', async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    response.end(`${request.method} ${body}`)
  })
  const sockets = new WebSocketServer({ server: target.server })
  sockets.on('connection', (socket) => {
    socket.send('hello') // may arrive together with the answer
    socket.on('message', (data: RawData, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return { ...target, sockets }
}

function open(port: number, headers: Readonly<Record<string, string>> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chat?x=1`, ['talk'], { headers: { host: HOST, ...headers } })
  socket.on('error', () => undefined)
  onTestFinished(() => socket.terminate())
  return socket
}

const heard = async (socket: WebSocket) => String((await once(socket, 'message'))[0])

/** The status with which an upgrade was refused. */
async function refusalOf(socket: WebSocket) {
  const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  return { status: answer.statusCode, type: answer.headers['content-type'] }
}

describe('a WebSocket', () => {
  it('carries messages both ways, of any size', async () => {
    const target = await echo()
    const seen = once(target.server, 'upgrade')
    const socket = open(await gatewayTo([target]))
    expect(await heard(socket)).toBe('hello')
    const [{ url, headers }] = (await seen) as [IncomingMessage]
    expect({ url, ...headers }).toMatchObject({ url: '/chat?x=1', host: HOST, 'x-forwarded-for': '127.0.0.1' })
    expect(socket.protocol).toBe('talk')
    socket.send('x'.repeat(5 * 2 ** 20))
    expect(await heard(socket)).toHaveLength(5 * 2 ** 20)
    socket.close(1000)
    expect((await once(socket, 'close'))[0]).toBe(1000)
  })

  it('needs the key in its upgrade request when auth is on, and the instance does not see it', async () => {
    const target = await echo()
    const port = await gatewayTo([target], { auth: true })
    expect(await refusalOf(open(port))).toEqual({ status: 403, type: 'application/problem+json' })
    const seen = once(target.server, 'upgrade')
    expect(await heard(open(port, { 'service-api-key': 'key' }))).toBe('hello')
    expect(((await seen) as [IncomingMessage])[0].headers['service-api-key']).toBeUndefined()
  })

  it('counts as a request', async () => {
    const port = await gatewayTo([await echo()], { single_connection_limit: true, client_request_timeout: 60 })
    const socket = open(port)
    await heard(socket)
    expect((await ask(port)).status).toBe(504)
    expect((await refusalOf(open(port))).status).toBe(504)
    socket.close()
    await once(socket, 'close')
    await expect.poll(async () => (await ask(port)).status).toBe(200)
  })

  it('gives up its turn when the client goes away before there is an answer', async () => {
    const target = await instance('a')
    target.server.on('upgrade', () => undefined) // never answers
    const port = await gatewayTo([target], { single_connection_limit: true })
    const client = connect(port, '127.0.0.1')
    client.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    await once(target.server, 'upgrade')
    client.end()
    expect((await ask(port)).body).toBe('a')
  })

  it('is closed when nothing passes for a while, and not before', async () => {
    const target = await echo()
    const socket = open(await gatewayTo([target], {}, { settings: { idleMs: 400 } }))
    await heard(socket)
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 120))
      socket.send('still here')
    }
    await once(socket, 'close')
    expect(target.sockets.clients.size).toBe(0)
  })

  it('ends with the instance', async () => {
    const target = await echo()
    const socket = open(await gatewayTo([target]))
    await heard(socket)
    for (const other of target.sockets.clients) other.terminate()
    await once(socket, 'close')
  })

  it('passes on a refusal of the instance', async () => {
    const target = await instance('a')
    new WebSocketServer({ server: target.server, verifyClient: (_info, done) => done(false, 418, 'tea') })
    expect((await refusalOf(open(await gatewayTo([target])))).status).toBe(418)
  })

  it('503 without an instance, 524 when it does not answer', async () => {
    expect((await refusalOf(open(await gatewayTo([])))).status).toBe(503)
    const target = await instance('a')
    target.server.on('upgrade', () => undefined)
    const port = await gatewayTo([target], { server_response_timeout: 50 })
    expect((await refusalOf(open(port))).status).toBe(524)
  })
})

describe('another protocol', () => {
  it('is not agreed to, and the request is answered as if it had not asked', async () => {
    const port = await gatewayTo([await echo()])
    const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' }
    expect(await ask(port, { headers })).toMatchObject({ status: 200, body: 'GET ' })
    const body = 'x'.repeat(100_000)
    expect(await ask(port, { method: 'POST', headers, body })).toMatchObject({ status: 200, body: `POST ${body}` })
  })

  it('nor does asking for one get around the key', async () => {
    const port = await gatewayTo([await echo()], { auth: true })
    const asking = begin(port, { headers: { connection: 'Upgrade', upgrade: 'h2c' } }).end()
    expect((await once(asking, 'response'))[0]).toMatchObject({ statusCode: 403 })
  })
})
