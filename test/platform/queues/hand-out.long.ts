import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { allBackends } from '../../support/backends.ts'
import { application, json, platform, queueOf, ready } from './bench.ts'

for (const { name, missing, database, redisUrl: url } of allBackends())
  describe.skipIf(missing !== '')(`jobs kept by ${name}${missing}`, () => {
    it('are all done by two workers, of which one dies in the middle', async () => {
      const bench = await platform(database(), { redisUrl: await url() })
      const queue = await queueOf(bench)
      const app = await application(async ({ input }, response) => json(response, { seen: input }))
      let stuck: (() => void) | undefined
      const doomed = await application(async ({ input }, response) => {
        if (doomed.calls.length < 4) return json(response, { seen: input })
        await new Promise<void>((resolve) => {
          stuck = resolve
        })
      })
      await Promise.all(Array.from({ length: 100 }, (_, i) => queue.submit({ i })))
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      const dying = bench.queues.createWorker({ queueId: queue.id, ...doomed, status: ready })
      await vi.waitFor(() => expect(stuck).toBeDefined(), { timeout: 15_000 })
      dying.kill()
      stuck?.()

      const jobs = await vi.waitFor(
        async () => {
          const records = await queue.list()
          expect(records.filter(({ status }) => status === 'succeeded')).toHaveLength(100)
          return records
        },
        { timeout: 30_000, interval: 200 },
      )
      for (const { input, output } of jobs) expect(output).toEqual({ seen: input })
      const started = jobs.map(({ events }) => events.filter(({ action }) => action === 'started').length)
      expect(started.filter((count) => count === 2)).toHaveLength(1)
      expect(started.filter((count) => count === 1)).toHaveLength(99)
      expect(new Set(app.calls.map(({ id }) => id)).size).toBe(app.calls.length)
    }, 60_000)

    it('wait for the next platform when one ends before they were handed out, each in its turn', async () => {
      const redisUrl = await url()
      const bench = await platform(database(), { redisUrl })
      const queue = await queueOf(bench)
      const submitted = [await queue.submit(1), await queue.submit(2), await queue.submit(3)]
      await bench.queues.close()
      const app = await application(({ input }, response) => json(response, input))
      const next = await bench.start()
      next.createWorker({ queueId: queue.id, ...app, status: ready })
      for (const { id } of submitted) expect(await queue.ended(id)).toMatchObject({ status: 'succeeded' })
      expect(app.calls.map(({ input }) => input)).toEqual([1, 2, 3])
    })

    it('fail when a fourth worker is lost with them', async () => {
      const bench = await platform(database(), { redisUrl: await url(), settings: { leaseMs: 300, renewMs: 60 } })
      const queue = await queueOf(bench)
      const app = await application(() => undefined)
      const { id } = await queue.submit('deadly')
      for (let attempt = 1; attempt <= 4; attempt++) {
        const worker = bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
        await vi.waitFor(() => expect(app.calls.length).toBeGreaterThanOrEqual(attempt), { timeout: 15_000 })
        worker.kill()
      }
      expect((await queue.ended(id)).events.map(({ action }) => action)).toEqual([
        'created',
        'started',
        'started',
        'started',
        'started',
        'failed',
      ])
    })

    it('go with their queue', async () => {
      const bench = await platform(database(), { redisUrl: await url() })
      const queue = await queueOf(bench)
      await queue.submit(1)
      expect((await bench.send('DELETE /projects/demo/queues/images')).status).toBe(202)
      const app = await application((_call, response) => json(response, 1))
      const worker = bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      await worker.check()
      await pause(300)
      expect(app.calls).toEqual([])
    })
  })
