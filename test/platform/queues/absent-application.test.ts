import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { platformDatabase } from '../../support/platform-database.ts'
import { application, json, platform, queueOf, ready } from './bench.ts'

const database = platformDatabase()
/** Long beside the test, so that nobody is asked a second time whether it is ready. */
const settings = { readinessMs: 20_000 }

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

it('an application that has died costs a job one attempt, not all, and another one does it at once', async () => {
  const bench = await platform(database(), { settings })
  const queue = await queueOf(bench)
  bench.queues.createWorker({ queueId: queue.id, port: await closedPort(), path: 'generate', status: ready })
  const { id } = await queue.submit('first')
  await expect
    .poll(async () => (await queue.read(id)).events.map(({ action }) => action))
    .toEqual(['created', 'started'])
  await expect.poll(async () => (await queue.read(id)).status).toBe('pending')
  const app = await application((_call, response) => json(response, 'done'))
  bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
  const job = await queue.ended(id)
  expect(job).toMatchObject({ status: 'succeeded', output: 'done' })
  expect(job.events.map(({ action }) => action)).toEqual(['created', 'started', 'started', 'succeeded'])
})

it('an application that takes nothing now is left alone until it is ready again, and others are asked', async () => {
  const bench = await platform(database(), { settings })
  const queue = await queueOf(bench)
  const stopping = await application((_call, response) => json(response, {}, 503))
  bench.queues.createWorker({ queueId: queue.id, ...stopping, status: ready })
  const first = await queue.submit('first')
  await expect.poll(async () => stopping.calls.length).toBe(1)
  const app = await application((_call, response) => json(response, 'done'))
  bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
  expect(await queue.ended(first.id)).toMatchObject({ status: 'succeeded' })
  expect(await queue.ended((await queue.submit('second')).id)).toMatchObject({ status: 'succeeded' })
  expect(stopping.calls).toHaveLength(1)
})
