// A receiver of webhooks that fails as it is told to, and remembers what came: for the tests of the chaos tools.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** Bytes that are read before a connection is dropped. */
const SOME = 1000

/**
 * Listens on a free port of 127.0.0.1, or on `port`. `behave` says for each call, by its head alone, what to do: a status
 * to answer with, or a word. Types are in receiver.d.mts.
 */
export async function startReceiver({ secret, behave = () => 200, port = 0, keepBodies = true } = {}) {
  const calls = []
  const attempts = new Map()
  const server = createServer((request, response) => {
    const webhookId = request.headers['webhook-id']
    const key = `${request.url} ${webhookId ?? ''}`
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const { url: path, headers } = request
    const call = { path, headers, webhookId, attempt, at: Date.now(), bytes: 0, status: undefined }
    calls.push(call)
    void take(request, response, call, { behaviour: behave(call), secret, keepBodies }).catch(() => undefined)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    calls,
    /** How many calls each webhook id was answered 2xx. */
    accepted() {
      const counts = new Map()
      for (const { webhookId, status } of calls)
        if (webhookId !== undefined && status >= 200 && status < 300)
          counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
      return counts
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function take(request, response, call, { behaviour, secret, keepBodies }) {
  if (behaviour === 'deaf') return // reads nothing, so that the sender's buffers fill
  const parts = []
  for await (const part of request) {
    call.bytes += part.length
    parts.push(part)
    if (behaviour === 'drop' && call.bytes > SOME) return request.socket.resetAndDestroy()
    if (behaviour === 'slow') await new Promise((done) => setTimeout(done, 4))
  }
  if (behaviour === 'drop') return request.socket.resetAndDestroy()
  const raw = Buffer.concat(parts).toString()
  const body = JSON.parse(raw)
  Object.assign(call, { event: body.type ?? body.event, promptId: body.id })
  if (keepBodies) Object.assign(call, { raw, body })
  call.stable = JSON.stringify(body) === raw
  if (secret !== undefined) call.verified = isSigned(request.headers, raw, secret)
  if (behaviour === 'hang') return
  const { status, headers = {} } = typeof behaviour === 'object' ? behaviour : { status: behaviour }
  call.status = behaviour === 'slow' ? 200 : status
  response.writeHead(call.status, headers).end('{}')
}

/** Whether one of the signatures is that of the key (Standard Webhooks). */
function isSigned(headers, raw, secret) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${raw}`
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(text).digest('base64')}`)
  return String(headers['webhook-signature'] ?? '')
    .split(' ')
    .map((each) => Buffer.from(each))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected))
}
