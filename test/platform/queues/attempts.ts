import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { queueJobSchema } from '../../../src/contracts/platform/queue-job.ts'
import type { Backend } from '../../support/backends.ts'
import { application, bodyIn, json, type PlatformOptions, platform, queueOf, ready } from './bench.ts'

const actions = (job: { readonly events: readonly { readonly action: string }[] }) =>
  job.events.map(({ action }) => action)

/** What becomes of jobs, wherever they are kept (platform reference, sections 14 and 15). */
export function testAttempts({ database, redisUrl }: Backend): void {
  const start = async (options: PlatformOptions = {}) =>
    platform(database(), { redisUrl: await redisUrl(), ...options })

  /** One job for an application that answers the first time as `first` says, and then with "again". */
  async function oneJob(first: (response: ServerResponse) => void, input: unknown = { prompt: {} }) {
    const bench = await start()
    const queue = await queueOf(bench)
    const app = await application((_call, response) =>
      app.calls.length === 1 ? first(response) : json(response, 'again'),
    )
    bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
    const { id } = await queue.submit(input, { metadata: { mine: 1 } })
    return { job: await queue.ended(id), app }
  }

  describe('an application', () => {
    it('gets the input alone, and who it is for, and its answer is the output', async () => {
      const { job, app } = await oneJob((response) => json(response, { images: ['a'] }), {
        prompt: { b: 1, a: [null] },
      })
      expect(job).toMatchObject({ status: 'succeeded', output: { images: ['a'] }, metadata: { mine: 1 } })
      expect(actions(job)).toEqual(['created', 'started', 'succeeded'])
      expect(job.update_time).toBe(job.events.at(-1)?.time)
      const { raw, request } = app.calls[0]!
      expect([request.method, request.url, raw]).toEqual(['POST', '/generate', '{"prompt":{"b":1,"a":[null]}}'])
      expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'job-id': job.id })
    })

    it.each([400, 404, 422, 302])('is taken at its word when it answers %d with JSON', async (status) => {
      const { job } = await oneJob((response) => json(response, { error: 'no' }, status))
      expect(job).toMatchObject({ status: 'succeeded', output: { error: 'no' } })
    })

    it('leaves no output when its answer is null', async () => {
      const { job } = await oneJob((response) => json(response, null))
      expect(job.status).toBe('succeeded')
      expect(job).not.toHaveProperty('output')
    })

    it.each<[string, (response: ServerResponse) => void]>([
      ['answers 408', (response) => json(response, {}, 408)],
      ['answers 429', (response) => json(response, {}, 429)],
      ['answers 500', (response) => json(response, {}, 500)],
      ['answers 503', (response) => json(response, {}, 503)],
      ['answers with text', (response) => response.end('done')],
      ['answers with nothing', (response) => response.end()],
      ['answers with more than 10 MiB', (response) => json(response, 'x'.repeat(10 * 2 ** 20))],
      ['breaks off', (response) => response.destroy()],
      ['breaks off within its answer', (response) => response.write('{"a":', () => response.destroy())],
    ])('is asked again when it %s', async (_what, first) => {
      const { job } = await oneJob(first)
      expect(job).toMatchObject({ status: 'succeeded', output: 'again' })
      expect(actions(job)).toEqual(['created', 'started', 'started', 'succeeded'])
    })
  })

  describe('a job', () => {
    it('fails with its fourth attempt and is not tried again', async () => {
      const bench = await start()
      const queue = await queueOf(bench)
      const app = await application(({ input }, response) => json(response, {}, input === 'bad' ? 500 : 200))
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      const bad = await queue.submit('bad')
      const job = await queue.ended(bad.id)
      await queue.ended((await queue.submit('good')).id)
      expect(job.status).toBe('failed')
      expect(job).not.toHaveProperty('output')
      expect(actions(job)).toEqual(['created', 'started', 'started', 'started', 'started', 'failed'])
      expect(app.calls.map(({ input }) => input)).toEqual(['bad', 'bad', 'bad', 'bad', 'good'])
    })

    it('keeps the order of members and every digit, there and back', async () => {
      const bench = await start()
      const queue = await queueOf(bench)
      const exact = '{"seed":18446744073709551615,"b":1.50e3,"a":{"z":"\\u00e9","y":[]}}'
      const app = await application(({ raw }, response) => void response.end(raw))
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      const { id } = await bodyIn(queueJobSchema, await bench.send(`POST ${queue.path}`, `{"input":${exact}}`))
      await queue.ended(id)
      expect(app.calls[0]!.raw).toBe('{"seed":18446744073709551615,"b":1500,"a":{"z":"é","y":[]}}')
      expect(await (await bench.send(`GET ${queue.path}/${id}`)).text()).toContain(`"output":${app.calls[0]!.raw}`)
    })
  })

  describe('a worker', () => {
    it('takes one job at a time, and none while its instance is not ready', async () => {
      const bench = await start()
      const queue = await queueOf(bench)
      let state: { readonly ready: boolean } | undefined = { ready: false }
      const answers: ServerResponse[] = []
      const app = await application((_call, response) => void answers.push(response))
      const worker = bench.queues.createWorker({ queueId: queue.id, ...app, status: async () => state })
      const first = await queue.submit(1)
      const second = await queue.submit(2)
      await worker.check()
      expect(await queue.read(first.id)).toMatchObject({ status: 'pending' })

      state = { ready: true }
      await worker.check()
      await vi.waitFor(() => expect(answers).toHaveLength(1))
      expect(await queue.read(first.id)).toMatchObject({ status: 'running' })
      expect(await queue.read(second.id)).toMatchObject({ status: 'pending' })

      state = undefined // the instance is gone: it takes no more, and what it has goes on
      await worker.check()
      json(answers[0]!, 'done')
      expect(await queue.ended(first.id)).toMatchObject({ status: 'succeeded', output: 'done' })
      expect(await queue.read(second.id)).toMatchObject({ status: 'pending' })
    })

    it('that is stopped gives its job time, and then another worker has it', async () => {
      const bench = await start()
      const queue = await queueOf(bench)
      const app = await application((_call, response) => {
        if (app.calls.length > 1) json(response, 'done')
      })
      const { id } = await queue.submit(1)
      const worker = bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      await vi.waitFor(() => expect(app.calls).toHaveLength(1))
      await worker.stop(50)
      expect(await queue.read(id)).toMatchObject({ status: 'pending' })
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      expect(await queue.ended(id)).toMatchObject({ status: 'succeeded' })
    })

    it('keeps a job that lasts longer than its lease', async () => {
      const bench = await start({ settings: { leaseMs: 500, renewMs: 100 } })
      const queue = await queueOf(bench)
      const app = await application((_call, response) => void setTimeout(() => json(response, 'slow'), 1600))
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
      const job = await queue.ended((await queue.submit(1)).id)
      expect(actions(job)).toEqual(['created', 'started', 'succeeded'])
    })
  })
}
