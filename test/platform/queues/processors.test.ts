import { describe, expect, it, vi } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import {
  createdInferenceJobSchema,
  inferenceJobPageSchema,
  inferenceJobSchema,
} from '../../../src/contracts/platform/inference-job.ts'
import { createMembers } from '../../../src/platform/base/members.ts'
import { readConfig } from '../../../src/platform/config.ts'
import { openStorage } from '../../../src/platform/wiring/storage.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { application, bodyIn, builtInOver, json, type Platform, platform, queueOf, ready } from './bench.ts'

const database = platformDatabase()
const patience = { timeout: 15_000, interval: 20 }
const AUDIO = 'https://files.example.com/a.mp3'
const jobsOf = (endpoint: string) => `/inference-endpoints/${endpoint}/jobs`

async function submit({ send }: Platform, input: object, endpoint = 'transcribe', more: object = {}): Promise<string> {
  return (await bodyIn(createdInferenceJobSchema, await send(`POST ${jobsOf(endpoint)}`, { input, ...more }))).id
}

/** The job when it has a status that it keeps. */
const ended = ({ send }: Platform, id: string, endpoint = 'transcribe') =>
  vi.waitFor(async () => {
    const job = await bodyIn(inferenceJobSchema, await send(`GET ${jobsOf(endpoint)}/${id}`))
    if (job.status === 'pending' || job.status === 'running') throw new Error(`it is ${job.status}`)
    return job
  }, patience)

type Answer = Parameters<typeof application>[0]

/** A platform whose transcription endpoints, or one named otherwise, are done as `answer` says. */
async function served(answer: Answer, endpoint = 'transcribe', options: Parameters<typeof platform>[1] = {}) {
  const app = await application(answer)
  const url = `http://localhost:${app.port}/transcribe`
  return {
    app,
    bench: await platform(database(), { ...options, settings: { endpoints: [builtInOver(endpoint, url)] } }),
  }
}

const problem = (body: object): Answer => {
  const text = JSON.stringify({ type: 'about:blank', title: 'Service Unavailable', status: 503, ...body })
  return (_call, response) => void response.writeHead(503, { 'content-type': 'application/problem+json' }).end(text)
}

describe('a job that its processor refuses', () => {
  it('fails with what the last answer says is missing, of which its webhook is told', async () => {
    const detail = 'There is no speech model: put one into models/whisper.'
    const { app, bench } = await served(problem({ detail }))
    const id = await submit(bench, { url: AUDIO }, 'transcribe', { webhook: 'https://hooks.example.com/done' })
    const job = await ended(bench, id)
    expect(job).toMatchObject({ status: 'failed', output: { error: detail, duration: 0 } })
    expect(app.calls).toHaveLength(4)
    const message = await database()
      .db.selectFrom('webhook_messages')
      .select('body')
      .where('organization_id', '=', bench.tenant.organization.id)
      .executeTakeFirstOrThrow()
    expect(JSON.parse(message.body)).toMatchObject({ type: 'inference_endpoint.job.failed', data: job })
  })

  it.each<[string, Answer]>([
    ['a problem without a sentence', problem({})],
    ['a problem whose sentence is no text', problem({ detail: 7 })],
    [
      'a problem that breaks off',
      (_call, response) => {
        response
          .writeHead(503, { 'content-type': 'application/problem+json' })
          .write('{"detail":', () => response.destroy())
      },
    ],
    ['a problem beyond all measure', problem({ detail: 'x'.repeat(70_000) })],
    ['an error of another kind', (_call, response) => json(response, { error: 'x' }, 503)],
  ])('has no output after %s', async (_what, answer) => {
    const { bench } = await served(answer)
    const job = await ended(bench, await submit(bench, { url: AUDIO }))
    expect(job.status).toBe('failed')
    expect(job).not.toHaveProperty('output')
  })

  it('succeeds when it is done at last, and a queue job never tells more than that it failed', async () => {
    const refuse = problem({ detail: 'not yet' })
    const { app, bench } = await served((call, response) =>
      app.calls.length < 4 ? refuse(call, response) : json(response, { text: 'Hello.' }),
    )
    expect(await ended(bench, await submit(bench, { url: AUDIO }))).toMatchObject({ output: { text: 'Hello.' } })

    const queue = await queueOf(bench)
    const app2 = await application(refuse)
    bench.queues.createWorker({ queueId: queue.id, ...app2, status: ready })
    const job = await queue.ended((await queue.submit(1)).id)
    expect(job.status).toBe('failed')
    expect(job).not.toHaveProperty('output')
  })
})

describe('the output of a transcription', () => {
  const times = { duration_in_seconds: 21.4, duration: 0.01, processing_time: 3.2 }

  /** A storage API over the same records. */
  async function storage() {
    const config = readConfig({ PLATFORM_DATA_DIR: await emptyFolder(), STORAGE_PORT: '0' })
    const { db } = database()
    const services = {
      db,
      members: createMembers(db),
      now: Date.now,
      log: silentLog,
      verifyToken: async () => undefined,
    }
    return openStorage(config, services, ({ port }) => `http://127.0.0.1:${port}`)
  }

  it.each([
    ['transcribe', 'asked for as a file', { url: AUDIO, return_as_file: true }, 'Hello.'],
    ['transcription-lite', 'asked for as a file', { return_as_file: true }, 'Hello.'],
    ['transcribe', 'over a megabyte', { url: AUDIO }, 'é'.repeat(500_001)],
  ])('of %s that is %s lies in the storage, behind a signed link', async (endpoint, _what, input, text) => {
    const { storeOutput, url: origin, close } = await storage()
    const output = { text, ...times }
    const { bench } = await served((_call, response) => json(response, output), endpoint, { storeOutput })
    const id = await submit(bench, input, endpoint)
    const job = await ended(bench, id, endpoint)
    const path = `/organizations/${bench.tenant.organization.name}/files/outputs/${id}.json`
    expect(job).toMatchObject({ status: 'succeeded' })
    expect(job.output).toEqual({ url: expect.stringContaining(`${origin}${path}?token=`), ...times })
    const file = await fetch((job.output as { readonly url: string }).url)
    expect(file.headers.get('content-type')).toBe('application/json')
    expect(await file.json()).toEqual(output)
    const token = await database()
      .db.selectFrom('file_tokens')
      .selectAll()
      .where('path', '=', `outputs/${id}.json`)
      .executeTakeFirstOrThrow()
    expect(token.expires.getTime() - Date.now()).toBeGreaterThan(2_592_000_000 - 60_000)
    await close(0)
  })

  it.each([
    ['of no more than a megabyte', 'transcribe', { url: AUDIO }, { text: 'x'.repeat(999_000), ...times }],
    ['of unusable media', 'transcribe', { url: AUDIO, return_as_file: true }, { error: 'it is no audio', duration: 0 }],
    ['of another endpoint', 'echo', { return_as_file: true }, { text: 'Hello.' }],
  ])('%s stays in the job', async (_what, endpoint, input, output) => {
    const storeOutput = () => Promise.reject(new Error('it is stored'))
    const app = await application((_call, response) => json(response, output))
    const over = { ...builtInOver('transcription-lite', `http://localhost:${app.port}`), name: endpoint }
    const bench = await platform(database(), { settings: { endpoints: [over] }, storeOutput })
    expect(await ended(bench, await submit(bench, input, endpoint), endpoint)).toMatchObject({
      status: 'succeeded',
      output,
    })
  })

  it('of a job that was cancelled meanwhile is stored nowhere', async () => {
    const { storeOutput, close } = await storage()
    let finish = (): void => undefined
    const { app, bench } = await served(
      (_call, response) => {
        finish = () => json(response, { text: 'Hello.' })
      },
      'transcribe',
      { storeOutput },
    )
    const input = { url: AUDIO, return_as_file: true }
    const id = await submit(bench, input)
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), patience)
    await bench.send(`DELETE ${jobsOf('transcribe')}/${id}`)
    finish()
    const next = await submit(bench, input)
    await vi.waitFor(() => expect(app.calls).toHaveLength(2), patience)
    finish()
    expect(await ended(bench, next)).toMatchObject({ status: 'succeeded' })
    expect(await ended(bench, id)).toMatchObject({ status: 'cancelled' })
    const files = await database()
      .db.selectFrom('files')
      .select('path')
      .where('organization_id', '=', bench.tenant.organization.id)
      .execute()
    expect(files).toEqual([{ path: `outputs/${next}.json` }])
    await close(0)
  })

  it('is made again when it could not be stored', async () => {
    let asked = 0
    const storeOutput = async () => {
      if (++asked < 3) throw new Error('the storage is away')
      return 'https://storage.example.com/a'
    }
    const { bench } = await served((_call, response) => json(response, { text: 'x' }), 'transcribe', { storeOutput })
    const job = await ended(bench, await submit(bench, { url: AUDIO, return_as_file: true }))
    expect(job).toMatchObject({ status: 'succeeded', output: { url: 'https://storage.example.com/a' } })
    expect(job.events.filter(({ action }) => action === 'started')).toHaveLength(3)
  })
})

describe('processors', () => {
  it('serve organizations that are made later, also through other processes', async () => {
    const { bench } = await served((_call, response) => json(response, { text: 'Hello.' }))
    const other = await platform(database()) // of a new organization, and without processors
    const [mine, theirs] = [await submit(bench, { url: AUDIO }), await submit(other, { url: AUDIO })]
    expect(await ended(bench, mine)).toMatchObject({ status: 'succeeded' })
    expect(await ended(other, theirs)).toMatchObject({ status: 'succeeded' })
  })

  it('finish jobs that were cancelled meanwhile, for nothing', async () => {
    let finish = (): void => undefined
    const { app, bench } = await served((_call, response) => {
      finish = () => json(response, { text: 'Hello.' })
    })
    const id = await submit(bench, { url: AUDIO })
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), patience)
    expect((await bench.send(`DELETE ${jobsOf('transcribe')}/${id}`)).status).toBe(202)
    finish()
    finish = () => undefined
    const next = await submit(bench, { url: AUDIO })
    await vi.waitFor(() => expect(app.calls).toHaveLength(2), patience)
    finish()
    await ended(bench, next)
    const job = await ended(bench, id)
    expect(job.status).toBe('cancelled')
    expect(job).not.toHaveProperty('output')
  })

  it('get what the job was given, and nothing around it', async () => {
    const { app, bench } = await served((_call, response) => json(response, null), 'transcription-lite')
    const id = await submit(bench, { b: 1, a: [null] }, 'transcription-lite', { metadata: { mine: 1 } })
    expect(await ended(bench, id, 'transcription-lite')).not.toHaveProperty('output')
    const [{ raw, request }] = app.calls as [(typeof app.calls)[number]]
    expect([request.method, request.url, raw]).toEqual(['POST', '/transcribe', '{"b":1,"a":[null]}'])
    expect(request.headers).toMatchObject({ 'content-type': 'application/json', 'job-id': id })
    const { items } = await bodyIn(inferenceJobPageSchema, await bench.send(`GET ${jobsOf('transcription-lite')}`))
    expect(items.map((item) => item.id)).toEqual([id])
  })
})
