import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { completeParcel, fresh, webhooksWith } from '../../support/webhooks.ts'

const MEGABYTE = 2 ** 20
const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** A file of random bytes, with their hash. */
async function largeFile(megabytes: number) {
  const path = join(await emptyFolder(), 'large.png')
  const file = await open(path, 'w')
  const hash = createHash('sha256')
  for (let i = 0; i < megabytes; i++) {
    const part = randomBytes(MEGABYTE)
    hash.update(part)
    await file.write(part)
  }
  await file.close()
  return { path, bytes: megabytes * MEGABYTE, hash: hash.digest('hex') }
}

/** Reads a call as it comes: whether it is signed, and the hash of its only image. */
async function readCall(request: IncomingMessage) {
  const { headers } = request
  const hmac = createHmac('sha256', Buffer.from(secret, 'base64'))
  hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
  const image = createHash('sha256')
  let text = ''
  let place: 'before' | 'inside' | 'behind' = 'before'
  for await (const part of request as AsyncIterable<Buffer>) {
    hmac.update(part)
    text += part.toString('latin1')
    const begins: number = place === 'before' ? text.search(/"images":\["[^"]{3}/) : -1 // the graph has images of one letter
    if (begins >= 0) [text, place] = [text.slice(begins + 11), 'inside']
    if (place !== 'inside') continue
    const end = text.indexOf('"')
    const whole = end < 0 ? text.length - (text.length % 4) : end
    image.update(Buffer.from(text.slice(0, whole), 'base64'))
    text = text.slice(whole)
    if (end >= 0) place = 'behind'
  }
  const signed = headers['webhook-signature'] === `v1,${hmac.digest('base64')}`
  return { signed, hash: image.digest('hex') }
}

/** Megabytes that this process holds on to. */
function held(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return (arrayBuffers + heapUsed) / MEGABYTE
}

describe('a large image', () => {
  it('is never whole in memory, however long the receiver takes', async () => {
    const { path, bytes, hash } = await largeFile(64)
    const calls: unknown[] = []
    const take = async (request: IncomingMessage) => {
      await pause(300) // long enough to fill every buffer on the way
      const holding = held() - before
      calls.push({ holding, ...(await readCall(request)) })
    }
    const server = createServer((request, response) => void take(request).then(() => response.end()))
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server, 'listening')

    const destination = {
      kind: 'webhook_v2',
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    } as const
    const parcel = await completeParcel()
    const large = { ...parcel, files: [{ ...parcel.files[0]!, path, bytes }] }
    const webhooks = webhooksWith({ secret, timeoutMs: 10_000 })
    const before = held()
    const { signal } = new AbortController()
    const delivery = webhooks.deliver(large, [destination], [fresh(destination)], async () => undefined, signal)
    expect(await delivery).toMatchObject([{ status: 'delivered', attempts: 1 }])
    expect(calls).toEqual([{ signed: true, hash, holding: expect.toSatisfy((megabytes) => megabytes < 16) }])
  })
})
