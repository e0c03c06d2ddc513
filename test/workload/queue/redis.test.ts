import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { type HeldEntry, HoldLost } from '../../../src/workload/queue/job-queue.ts'
import { openRedisQueue } from '../../../src/workload/queue/redis.ts'
import { emptyFolder } from '../../support/folder.ts'
import { closing, collect, eventually, queueTimes, requestOf } from '../../support/queues.ts'
import { startRedis } from '../../support/redis.ts'
import { redisDatabase } from '../../support/redis-database.ts'

/** A Redis that is reached through a wire that can be cut. */
async function wireTo(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  let whole = true
  const server = createServer((socket) => {
    if (!whole) return socket.destroy()
    const onward = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => sockets.delete(from) && to.destroy())
    }
    return socket
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())))
  const through = new URL(url)
  through.port = String((server.address() as { readonly port: number }).port)
  return {
    url: through.href,
    cut() {
      whole = false
      for (const socket of sockets) socket.destroy()
    },
    mend() {
      whole = true
    },
  }
}

describe.skipIf(inject('redisMissing') !== '')(`a queue in Redis ${inject('redisMissing')}`, () => {
  it('takes a prompt away from a server that cannot reach Redis, and the server lets go of it first', async () => {
    const url = await redisDatabase()
    const wire = await wireTo(url)
    const one = closing(openRedisQueue({ url: wire.url, ...queueTimes }))
    const other = closing(openRedisQueue({ url, ...queueTimes }))
    await one.submit(requestOf('1'))
    const held = collect(one)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.keep('before')

    const order: string[] = []
    held[0]?.signal.addEventListener('abort', () => order.push('let go'))
    const taken: HeldEntry[] = []
    other.work(
      async (entry) => {
        order.push('taken')
        taken.push(entry)
        await entry.end('by the other')
      },
      () => true,
    )
    wire.cut()
    const late = held[0]?.keep('never written')
    await expect(late).rejects.toBeInstanceOf(HoldLost)
    await eventually(() => expect(taken).toMatchObject([{ id: '1', starts: 2, note: 'before' }]))
    expect(order).toEqual(['let go', 'taken'])
    wire.mend()
    await eventually(() => expect(one.reachable).toBe(true))
    expect(await one.find('1')).toMatchObject({ stage: 'ended', note: 'by the other' })
    await expect(held[0]?.end('too late')).rejects.toBeInstanceOf(HoldLost)
  })

  it('keeps what it holds over a short break, and writes what could not be written meanwhile', async () => {
    const url = await redisDatabase()
    const wire = await wireTo(url)
    const queue = closing(openRedisQueue({ url: wire.url, ...queueTimes, takeoverMs: 10_000 }))
    await queue.submit(requestOf('1'))
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    wire.cut()
    const kept = held[0]?.keep('written later')
    await eventually(() => expect(queue.reachable).toBe(false))
    wire.mend()
    await kept
    expect(await queue.find('1')).toMatchObject({ stage: 'held', note: 'written later', starts: 1 })
    await held[0]?.end('')
  })

  it('loses nothing when Redis is killed and started again, and says meanwhile that it is away', async () => {
    const redis = await startRedis({ folder: await emptyFolder(), appendonly: true })
    onTestFinished(() => redis.stop('SIGKILL'))
    const times = { ...queueTimes, takeoverMs: 3000 }
    const one = closing(openRedisQueue({ url: redis.url, ...times }))
    const other = closing(openRedisQueue({ url: redis.url, ...times }))
    const held = collect(one, 2)
    for (const id of ['1', '2', '3']) await one.submit(requestOf(id))
    await eventually(() => expect(held).toHaveLength(2))
    await held[0]?.keep('noted')

    await redis.stop('SIGKILL')
    await eventually(() => expect([one.reachable, other.reachable]).toEqual([false, false]))
    const began = performance.now()
    const refusal = await other.submit(requestOf('4')).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(WorkloadError)
    expect(refusal).toMatchObject({ code: 'not-ready', facts: { retryAfter: expect.any(Number) } })
    expect(performance.now() - began).toBeLessThan(3000)
    const ending = held[0]?.end('ended as soon as it was back').catch((error: unknown) => error)

    await redis.restart()
    await eventually(() => expect([one.reachable, other.reachable]).toEqual([true, true]))
    const taken = collect(other)
    await ending
    await eventually(() => expect(taken.map(({ id }) => id)).toContain('3'))
    expect(await other.find('4')).toBeUndefined()
    expect((await other.list(9)).map(({ id }) => id)).toEqual(['1', '2', '3'])
    await other.submit(requestOf('5'))
    const five = () => [...held, ...taken].find(({ id }) => id === '5')
    await eventually(() => expect(five()).toBeDefined())
    expect(await one.cancel('5')).toBe(true)
    await eventually(() => expect(five()?.signal.aborted).toBe(true))
  })

  it('can be opened before Redis is there', async () => {
    const redis = await startRedis({ folder: await emptyFolder(), appendonly: false })
    await redis.stop()
    onTestFinished(() => redis.stop())
    const queue = closing(openRedisQueue({ url: redis.url, ...queueTimes }))
    const held = collect(queue)
    expect(queue.reachable).toBe(false)
    const submitted = queue.submit(requestOf('1'))
    await redis.restart()
    await submitted
    await eventually(() => expect(held).toHaveLength(1))
  })

  it('closes while Redis is away', async () => {
    const redis = await startRedis({ folder: await emptyFolder(), appendonly: false })
    const queue = openRedisQueue({ url: redis.url, ...queueTimes })
    const held = collect(queue)
    await queue.submit(requestOf('1'))
    await eventually(() => expect(held).toHaveLength(1))
    await redis.stop()
    await queue.close()
    expect(held[0]?.signal.reason).toBeInstanceOf(HoldLost)
  })
})
