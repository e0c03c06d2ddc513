import { describe, expect, it, vi } from 'vitest'
import {
  inferenceEndpointPageSchema,
  inferenceEndpointSchema,
} from '../../../src/contracts/platform/inference-endpoint.ts'
import {
  createdInferenceJobSchema,
  inferenceJobPageSchema,
  inferenceJobSchema,
} from '../../../src/contracts/platform/inference-job.ts'
import { BASE_URL, problemIn } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { application, bodyIn, builtInOver, json, platform } from './bench.ts'

const database = platformDatabase()
const AUDIO = 'https://files.example.com/a.mp3'
const JOBS = '/inference-endpoints/transcribe/jobs'
const LITE = '/inference-endpoints/transcription-lite/jobs'

describe('a transcription job', () => {
  it('is created without events and with its url alone, and read in full', async () => {
    const bench = await platform(database())
    const input = { url: AUDIO, multichannel: false, diarization: true }
    const webhook = 'https://hooks.example.com/done'
    const made = await bench.send(`POST ${JOBS}`, { input, metadata: { client_request_id: 'r-17' }, webhook })
    const job = createdInferenceJobSchema.parse(await made.json())
    const { name } = bench.tenant.organization
    expect([made.status, made.headers.get('location')]).toEqual([
      201,
      `${BASE_URL}/api/public/organizations/${name}${JOBS}/${job.id}`,
    ])
    expect(job).toMatchObject({
      inference_endpoint_name: 'transcribe',
      organization_name: name,
      input: { url: AUDIO },
      metadata: { client_request_id: 'r-17' },
      status: 'pending',
      events: [],
      update_time: job.create_time,
    })
    const read = inferenceJobSchema.parse(await (await bench.send(`GET ${JOBS}/${job.id}`)).json())
    const events = [{ action: 'created', time: job.create_time }]
    expect(read).toEqual({ ...job, input, events, webhook, webhook_url: webhook })
  })

  it('has null metadata when none was given, and no webhook', async () => {
    const bench = await platform(database())
    const made = await bodyIn(createdInferenceJobSchema, await bench.send(`POST ${JOBS}`, { input: { url: AUDIO } }))
    expect(made.metadata).toBeNull()
    const read = await bodyIn(inferenceJobSchema, await bench.send(`GET ${JOBS}/${made.id}`))
    expect(read.metadata).toBeNull()
    for (const absent of ['webhook', 'webhook_url', 'output']) expect(read).not.toHaveProperty(absent)
  })

  it.each([
    [[], 'body'],
    [{}, 'input: is required'],
    [{ input: 'x' }, 'input: must be an object'],
    [{ input: {} }, 'input.url: is required'],
    [{ input: { url: 'a.mp3' } }, 'input.url: must be an absolute http or https URL'],
    [{ input: { url: AUDIO, diarization: 'yes' } }, 'input.diarization: must be true or false'],
    [{ input: { url: AUDIO, language_code: 'xx' } }, 'input.language_code'],
    [{ input: { url: AUDIO, speed: 2 } }, 'input: must not have the member speed'],
    [{ input: { url: AUDIO }, speed: 2 }, 'body: must not have the member speed'],
    [{ input: { url: AUDIO }, metadata: 'x' }, 'metadata: must be an object'],
    [{ input: { url: AUDIO }, webhook: 'x' }, 'webhook: must be an absolute http or https URL'],
  ])('is not made of %j', async (body, detail) => {
    const bench = await platform(database())
    const problem = await problemIn(await bench.send(`POST ${JOBS}`, body))
    expect(problem).toMatchObject({ type: 'about:blank', status: 400, detail: expect.stringContaining(detail) })
    expect(problem.instance).toMatch(/^[0-9A-Z]{10}$/)
  })

  it('may be cancelled, which its webhook is told', async () => {
    const bench = await platform(database())
    const body = { input: { url: AUDIO }, webhook: 'https://a.example.com', webhook_url: 'https://b.example.com' }
    const { id } = await bodyIn(createdInferenceJobSchema, await bench.send(`POST ${JOBS}`, body))
    expect((await bench.send(`DELETE ${JOBS}/${id}`)).status).toBe(202)
    const job = await bodyIn(inferenceJobSchema, await bench.send(`GET ${JOBS}/${id}`))
    expect(job).toMatchObject({ status: 'cancelled', webhook: 'https://b.example.com' })
    const message = await database()
      .db.selectFrom('webhook_messages')
      .selectAll()
      .where('organization_id', '=', bench.tenant.organization.id)
      .executeTakeFirstOrThrow()
    expect(message.url).toBe('https://b.example.com')
    expect(JSON.parse(message.body)).toEqual({
      type: 'inference_endpoint.job.canceled',
      timestamp: job.update_time,
      data: job,
    })
  })
})

describe('a lightweight transcription job', () => {
  it('has a free input, which is echoed', async () => {
    const bench = await platform(database())
    const input = { anything: [1, { nested: null }] }
    const made = await bench.send(`POST ${LITE}`, { input, extra: 1 })
    expect(await bodyIn(createdInferenceJobSchema, made)).toMatchObject({ input })
    const { id } = await bodyIn(createdInferenceJobSchema, await bench.send(`POST ${LITE}`, { input: {} }))
    expect((await bench.send(`GET ${JOBS}/${id}`)).status).toBe(404)
    const page = inferenceJobPageSchema.parse(await (await bench.send(`GET ${LITE}?page=2&page_size=1`)).json())
    expect(page).toMatchObject({ items: [{ input }], page: 2, page_size: 1, total_size: 2 })
  })
})

describe('endpoints', () => {
  const echo = {
    id: '3f0c6f0a-52b6-4b79-8d5f-6d8a6f2b7c11',
    name: 'echo',
    display_name: 'Echo',
    description: '',
    icon_url: 'https://example.com/echo.svg',
    input_schema: '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}',
    output_schema: '{}',
    price_description: 'free',
    readme: 'It repeats.',
  }

  it('are those of the operator and the built-in ones, as they are offered', async () => {
    const other = { ...echo, name: 'other', organizations: ['nobody'] }
    const bench = await platform(database(), { settings: { endpoints: [echo, other] } })
    const page = inferenceEndpointPageSchema.parse(await (await bench.send('GET /inference-endpoints')).json())
    expect(page).toMatchObject({ page: 1, page_size: 100, total_size: 3 })
    expect(page.items.map(({ name }) => name)).toEqual(['echo', 'transcribe', 'transcription-lite'])
    const one = inferenceEndpointSchema.parse(await (await bench.send('GET /inference-endpoints/echo')).json())
    expect(one).toEqual({ ...echo, organization_name: bench.tenant.organization.name })
    const problem = await problemIn(await bench.send('POST /inference-endpoints/other/jobs', { input: {} }))
    expect(problem).toMatchObject({ status: 404, detail: 'The inference endpoint could not be found.' })
  })

  it('check inputs by their own schema', async () => {
    const bench = await platform(database(), { settings: { endpoints: [echo] } })
    const problem = await problemIn(await bench.send('POST /inference-endpoints/echo/jobs', { input: { n: 'x' } }))
    expect(problem).toMatchObject({ status: 400, detail: expect.stringMatching(/^input\.n: /) })
    expect((await bench.send('POST /inference-endpoints/echo/jobs', { input: { n: 1 } })).status).toBe(201)
  })

  it('have their jobs done by their processors, so many at a time', async () => {
    let most = 0
    let busy = 0
    const app = await application(async ({ input }, response) => {
      most = Math.max(most, ++busy)
      await new Promise((resolve) => setTimeout(resolve, 50))
      busy--
      json(response, { text: input })
    })
    const endpoints = [builtInOver('transcribe', `http://localhost:${app.port}/t`, 2)]
    const bench = await platform(database(), { settings: { endpoints } })
    const body = { input: { url: AUDIO, diarization: true } }
    for (let i = 0; i < 4; i++) await bench.send(`POST ${JOBS}`, body)
    await vi.waitFor(
      async () => {
        const { items } = inferenceJobPageSchema.parse(await (await bench.send(`GET ${JOBS}`)).json())
        expect(items.map(({ status, output }) => ({ status, output }))).toEqual(
          Array(4).fill({ status: 'succeeded', output: { text: body.input } }),
        )
      },
      { timeout: 15_000, interval: 100 },
    )
    expect(most).toBe(2)
  })
})
