import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startWorker } from '../../support/platform-program.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { patiently } from '../../support/running-platform.ts'
import { serverDatabase } from '../../support/server-database.ts'
import { application, json, platform, queueOf } from '../queues/bench.ts'

const missing = postgresMissing()
const server = sharedPostgres()
const database = serverDatabase(server)

/** A metadata service that says of its instance what the test lets it say; 0 is silence. */
async function metadataService() {
  const state = { status: 200, ready: true, asked: 0 }
  const server = createServer((_request, response) => {
    state.asked++
    if (state.status === 0) response.destroy()
    else if (state.status === 200) json(response, { ready: state.ready, started: true })
    else response.writeHead(state.status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A queue, an application that answers when the test says so, and a worker beside it. */
async function bench(environment: Readonly<Record<string, string>> = {}, before = async () => {}) {
  const bench = await platform(database())
  const queue = await queueOf(bench)
  const answers: ServerResponse[] = []
  const app = await application((_call, response) => void answers.push(response))
  const imds = await metadataService()
  await before()
  const worker = startWorker({
    DATABASE_URL: database().url,
    WORKER_QUEUE: `q.${queue.id}`,
    WORKER_PORT: `${app.port}`,
    WORKER_PATH: '/',
    INSTANCE_METADATA_URI: imds.url,
    WORKER_LOG_LEVEL: 'info',
    WORKER_POLL_S: '0.2',
    STOP_GRACE_S: '1',
    ...environment,
  })
  await worker.line(/has begun/)
  const taken = (count: number) => patiently(() => expect(answers).toHaveLength(count))
  return { bench, queue, answers, imds: imds.state, worker, taken }
}

describe.skipIf(missing !== '')(`a worker${missing && ` (${missing})`}`, () => {
  it('takes one job at a time while its instance is ready, and ends when that is gone', async () => {
    const { queue, answers, imds, worker, taken } = await bench()
    const first = await queue.submit(1)
    const second = await queue.submit(2)
    await taken(1)
    imds.ready = false
    const { asked } = imds
    await patiently(() => expect(imds.asked).toBeGreaterThan(asked + 2))
    json(answers[0]!, 'one')
    expect(await queue.ended(first.id)).toMatchObject({ status: 'succeeded', output: 'one' })
    await pause(1500)
    expect(await queue.read(second.id)).toMatchObject({ status: 'pending' })
    imds.ready = true
    await taken(2)
    json(answers[1]!, 'two')
    expect(await queue.ended(second.id)).toMatchObject({ output: 'two' })
    imds.status = 404
    expect(await worker.ended).toEqual([0, null])
  }, 120_000)

  it('takes no job while nobody tells whether its instance is ready', async () => {
    const { queue, imds, worker, taken } = await bench()
    imds.status = 0
    await worker.line(/counts as not ready/)
    const { id } = await queue.submit(1)
    await pause(1500)
    expect(await queue.read(id)).toMatchObject({ status: 'pending' })
    imds.status = 200
    await taken(1)
  }, 120_000)

  it('that begins while PostgreSQL is away takes jobs when it is back', async () => {
    const { queue, answers, imds, taken } = await bench({}, () => server().stop())
    await patiently(() => expect(imds.asked).toBeGreaterThan(10))
    await server().start()
    const { id } = await queue.submit(1)
    await taken(1)
    json(answers[0]!, 'done')
    expect(await queue.ended(id)).toMatchObject({ status: 'succeeded' })
  }, 120_000)

  it('that is asked to end finishes its job', async () => {
    const { queue, answers, worker, taken } = await bench({ STOP_GRACE_S: '60' })
    const { id } = await queue.submit(1)
    await taken(1)
    const gone = worker.stop()
    await worker.line(/the worker ends/)
    json(answers[0]!, 'done')
    expect(await gone).toEqual([0, null])
    expect(await queue.read(id)).toMatchObject({ status: 'succeeded', output: 'done' })
  }, 120_000)

  it('that is asked to end gives a job back that takes too long', async () => {
    const { queue, worker, taken } = await bench()
    const { id } = await queue.submit(1)
    await taken(1)
    expect(await worker.stop()).toEqual([0, null])
    expect(await queue.read(id)).toMatchObject({ status: 'pending', events: [{}, { action: 'started' }] })
  }, 120_000)

  it('has nothing to do when its queue is deleted', async () => {
    const { bench: platform, queue, imds, worker, taken } = await bench()
    await queue.submit(1)
    await taken(1)
    expect((await platform.send('DELETE /projects/demo/queues/images')).status).toBe(202)
    const { asked } = imds
    await patiently(() => expect(imds.asked).toBeGreaterThan(asked + 5))
    expect(await worker.stop()).toEqual([0, null])
  }, 120_000)
})
