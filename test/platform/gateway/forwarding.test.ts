import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { problemSchema } from '../../../src/contracts/platform/problem.ts'
import { answerOf, ask, begin, deafPort, gatewayTo, HOST, instance } from '../../support/gateway.ts'

/** Answers with what it was asked. */
async function mirror(request: IncomingMessage, response: ServerResponse) {
  let body = ''
  for await (const piece of request) body += piece
  const { method, url, rawHeaders } = request
  response.end(JSON.stringify({ method, url, rawHeaders, body }))
}

/** Names and values, in lower case. */
const pairs = (rawHeaders: readonly string[]) =>
  rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name.toLowerCase()}: ${rawHeaders[i + 1]}`] : []))

/** Writes a request by hand and reads until the other side has ended. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let answer = ''
  for await (const piece of socket) answer += piece
  return answer
}

describe('what is forwarded', () => {
  it('is the method, the path with its query, the headers and the body, unchanged', async () => {
    const port = await gatewayTo([await instance('a', mirror)])
    const headers = { 'X-Two': ['1', '2'], 'Content-Type': 'text/plain' }
    const { body } = await ask(port, { method: 'PUT', path: '/a%20b//c?d=%2F&e', headers, body: 'Grüße' })
    const seen = JSON.parse(body)
    expect(seen).toMatchObject({ method: 'PUT', url: '/a%20b//c?d=%2F&e', body: 'Grüße' })
    expect(pairs(seen.rawHeaders)).toEqual(
      expect.arrayContaining([`host: ${HOST}`, 'x-two: 1', 'x-two: 2', 'content-type: text/plain']),
    )
  })

  it('lacks the key and what is of one connection only, and tells who asked', async () => {
    const port = await gatewayTo([await instance('a', mirror)], { auth: true })
    const { body } = await ask(port, {
      headers: {
        'service-api-key': 'key',
        connection: 'close, x-mine',
        'x-mine': 'secret',
        te: 'trailers',
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-host': 'elsewhere',
      },
    })
    const seen = pairs(JSON.parse(body).rawHeaders)
    expect(seen.join('\n')).not.toMatch(/service-api-key|x-mine|^te:|elsewhere/m)
    expect(seen).toEqual(
      expect.arrayContaining([
        'x-forwarded-for: 203.0.113.7, 127.0.0.1',
        `x-forwarded-host: ${HOST}`,
        'x-forwarded-proto: http',
      ]),
    )
  })

  it('keeps its length, even where that is declared to be of one connection only', async () => {
    const port = await gatewayTo([await instance('a', mirror)])
    const headers = { connection: 'close, content-length, host', 'content-length': '4' }
    const { body } = await ask(port, { headers, body: 'body' })
    expect(JSON.parse(body)).toMatchObject({ method: 'GET', body: 'body' })
  })

  it('is the answer with its status, headers and body, also when it is an error', async () => {
    const answer = (_: unknown, response: ServerResponse) => {
      response.writeHead(418, 'Short and stout', ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Keep-Alive', 'timeout=77'])
      response.end('tea')
    }
    const port = await gatewayTo([await instance('a', answer)])
    const { status, headers, body } = await ask(port)
    expect({ status, body, cookies: headers['set-cookie'] }).toEqual({
      status: 418,
      body: 'tea',
      cookies: ['a=1', 'b=2'],
    })
    expect(headers['keep-alive']).toBeUndefined()
  })

  it('streams both ways: an answer may begin before the request has ended', async () => {
    const port = await gatewayTo([await instance('a', (request, response) => request.pipe(response))])
    const asking = begin(port, { method: 'POST' })
    asking.write('ping')
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    expect(String((await once(answer, 'data'))[0])).toBe('ping')
    asking.end('pong')
    expect(String((await once(answer, 'data'))[0])).toBe('pong')
  })

  it('comes no faster than the slower side takes it', async () => {
    const total = 256 * 2 ** 20
    let given = 0
    const answer = async (_: unknown, response: ServerResponse) => {
      const piece = Buffer.alloc(2 ** 20)
      for (; given < total && !response.destroyed; given += piece.length)
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    const port = await gatewayTo([await instance('a', answer)])
    const asking = begin(port).end()
    const [slow] = (await once(asking, 'response')) as [IncomingMessage]
    await pause(300)
    expect(given).toBeLessThan(total / 4)
    slow.destroy()
  })

  it('reaches applications that listen on IPv6 only', async () => {
    const port = await gatewayTo([await instance('six', undefined, '::1')])
    expect(await ask(port)).toMatchObject({ status: 200, body: 'six' })
  })

  it('answers HEAD without a body, and leaves connections usable', async () => {
    const answer = (_: unknown, response: ServerResponse) => response.setHeader('content-length', 7).end('content')
    const port = await gatewayTo([await instance('a', answer)])
    const head = (method: string, connection: string) =>
      `${method} / HTTP/1.1\r\nHost: ${HOST}:1234\r\nConnection: ${connection}\r\n\r\n`
    const [headOnly, whole] = (await raw(port, head('HEAD', 'keep-alive') + head('GET', 'close'))).split(
      /(?=HTTP\/1.1)/,
    )
    expect(headOnly).toMatch(/^HTTP\/1.1 200 OK\r\ncontent-length: 7\r\n(.+\r\n)+\r\n$/)
    expect(whole).toMatch(/\r\n\r\ncontent$/)
  })

  it('asks for the body of a careful client only when there is somebody to take it', async () => {
    const expectation = { method: 'POST', headers: { expect: '100-continue', 'content-length': '4' } }
    const open = await gatewayTo([await instance('a', mirror)])
    const asking = begin(open, expectation)
    asking.flushHeaders()
    await once(asking, 'continue')
    expect(JSON.parse((await answerOf(asking.end('body'))).body)).toMatchObject({ body: 'body' })

    const shut = begin(await gatewayTo([]), expectation)
    shut.flushHeaders()
    expect((await answerOf(shut)).status).toBe(503)
  })

  it('stops when the client goes away', async () => {
    const target = await instance('a', () => undefined)
    const port = await gatewayTo([target])
    const leaving = new AbortController()
    const asking = begin(port, { signal: leaving.signal }).end()
    asking.on('error', () => undefined)
    const [request] = (await once(target.server, 'request')) as [IncomingMessage]
    const closed = once(request.socket, 'close')
    leaving.abort()
    await closed
  })
})

describe('what is refused', () => {
  /** The problem that a request meets. */
  async function problemOf(answer: ReturnType<typeof ask>) {
    const { status, headers, body } = await answer
    expect(headers['content-type']).toBe('application/problem+json')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    const problem = problemSchema.parse(JSON.parse(body))
    expect(problem.status).toBe(status)
    return problem
  }

  it('404: a host that no group has', async () => {
    const port = await gatewayTo([await instance('a')], { auth: true })
    const problem = await problemOf(ask(port, { headers: { host: 'other.localhost' } }))
    expect(problem).toMatchObject({ status: 404, type: 'http://api.test/e/not-found', title: 'Not Found' })
    expect(
      await ask(port, { headers: { host: `${HOST.toUpperCase()}:8080`, 'service-api-key': 'key' } }),
    ).toMatchObject({ status: 200 })
  })

  it.each([undefined, 'other'])('403: auth is on and the key is %s', async (key) => {
    const port = await gatewayTo([], { auth: true })
    const headers = { 'content-length': '9', ...(key !== undefined && { 'service-api-key': key }) }
    expect((await problemOf(ask(port, { method: 'POST', headers, body: 'too large' }))).status).toBe(403)
  })

  it('413: a body that is longer than allowed, however it is told', async () => {
    const port = await gatewayTo([await instance('a', mirror)], {}, { settings: { maxBody: 8 } })
    expect((await ask(port, { method: 'POST', body: '8 bytes.' })).status).toBe(200)
    expect((await problemOf(ask(port, { method: 'POST', body: '9 bytes..' }))).status).toBe(413)
    const chunked = { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body: '9 bytes..' }
    expect((await problemOf(ask(port, chunked))).status).toBe(413)
  })

  it('413 before 503', async () => {
    const port = await gatewayTo([], {}, { settings: { maxBody: 8 } })
    expect((await problemOf(ask(port, { method: 'POST', body: '9 bytes..' }))).status).toBe(413)
  })

  it('503: no instance is ready, or none accepts the connection', async () => {
    const detail = 'The container is not ready to handle the request.'
    expect(await problemOf(ask(await gatewayTo([])))).toMatchObject({ status: 503, detail })
    const deaf = [
      { id: 'a', port: await deafPort() },
      { id: 'b', port: await deafPort() },
    ]
    expect(await problemOf(ask(await gatewayTo(deaf)))).toMatchObject({ status: 503, detail })
  })

  it('503: the instance breaks off before it answers, and is not asked again', async () => {
    let asked = 0
    const breaking = (request: IncomingMessage) => {
      asked++
      request.socket.destroy()
    }
    const port = await gatewayTo([await instance('a', breaking), await instance('b', breaking)])
    expect((await problemOf(ask(port))).status).toBe(503)
    expect(asked).toBe(1)
  })

  it('524: no head of an answer in time', async () => {
    const port = await gatewayTo([await instance('a', () => undefined)], { server_response_timeout: 50 })
    expect(await problemOf(ask(port))).toMatchObject({ status: 524, title: 'A Timeout Occurred' })
  })

  it('a body that falls silent: the connection is cut', async () => {
    const target = await instance('a', (_, response) => response.write('half'))
    const asking = begin(await gatewayTo([target], { server_response_timeout: 300 })).end()
    await expect(answerOf(asking)).rejects.toThrow('aborted')
  })

  it('a client that falls silent: the connection is cut', async () => {
    const port = await gatewayTo([await instance('a', () => undefined)], {}, { settings: { idleMs: 60 } })
    const asking = begin(port, { method: 'POST', headers: { 'content-length': '9' } })
    asking.write('half')
    await expect(answerOf(asking)).rejects.toThrow('socket hang up')
  })

  it('not a body that is slow but never silent', async () => {
    const drip = async (_: unknown, response: ServerResponse) => {
      for (let i = 0; i < 10; i++) {
        response.write('.')
        await pause(60)
      }
      response.end()
    }
    const port = await gatewayTo([await instance('a', drip)], { server_response_timeout: 500 })
    expect((await ask(port)).body).toBe('..........')
  })

  it('500 without its reason, when the records are away', async () => {
    const findGroup = () => Promise.reject(new Error('password wrong'))
    const problem = await problemOf(ask(await gatewayTo([], {}, { findGroup })))
    expect(problem).toMatchObject({ status: 500, title: 'Unknown Error' })
    expect(JSON.stringify(problem)).not.toContain('password')
  })

  it('what is no HTTP', async () => {
    const answer = await raw(await gatewayTo([]), 'nonsense\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    expect(answer).toContain('application/problem+json\r\n')
  })
})
