import { expect, it, vi } from 'vitest'
import { embedded } from '../../support/backends.ts'
import { testAttempts } from './attempts.ts'
import { application, json, platform, queueOf, ready } from './bench.ts'

const backend = embedded()
testAttempts(backend)

it('a job that was running when its platform died is handed out again by the next one, which knows that it is alone', async () => {
  const bench = await platform(backend.database(), { settings: { leaseMs: 60_000 } })
  const queue = await queueOf(bench)
  const app = await application((_call, response) => {
    if (app.calls.length > 1) json(response, 'again')
  })
  const dying = bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
  const { id } = await queue.submit(1)
  const other = await queue.submit(2)
  await vi.waitFor(() => expect(app.calls).toHaveLength(1))
  dying.kill()
  const next = await bench.start({}, true)
  next.createWorker({ queueId: queue.id, ...app, status: ready })
  const job = await queue.ended(id)
  expect(job).toMatchObject({ status: 'succeeded', output: 'again' })
  expect(job.events.map(({ action }) => action)).toEqual(['created', 'started', 'started', 'succeeded'])
  await queue.ended(other.id)
  expect(app.calls.map(({ input }) => input)).toEqual([1, 1, 2])
})
