import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import {
  endpointDefinitionSchema,
  inferenceEndpointSchema,
} from '../../../src/contracts/platform/inference-endpoint.ts'
import { createdInferenceJobSchema, inferenceJobSchema } from '../../../src/contracts/platform/inference-job.ts'
import { builtInEndpoints } from '../../../src/platform/queues/built-in-endpoints.ts'
import { readEndpoints } from '../../../src/platform/queues/endpoints-file.ts'
import { emptyFolder } from '../../support/folder.ts'
import { problemIn } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { application, bodyIn, json, platform } from './bench.ts'

const database = platformDatabase()
const patience = { timeout: 15_000, interval: 20 }
const ID = '3f0c6f0a-52b6-4b79-8d5f-6d8a6f2b7c11'

async function fileOf(content: unknown): Promise<string> {
  const file = join(await emptyFolder(), 'endpoints.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const read = async (content: unknown) => readEndpoints(await fileOf(content))

describe('the file of endpoints', () => {
  it('needs no more than names', async () => {
    const [picture] = await read([{ name: 'picture' }])
    expect(endpointDefinitionSchema.parse(picture)).toMatchObject({ name: 'picture', display_name: 'picture' })
    expect(picture).not.toHaveProperty('processor')
    expect(picture!.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
    expect((await read([{ name: 'picture' }]))[0]!.id).toBe(picture!.id)
    expect((await read([{ name: 'pictures' }]))[0]!.id).not.toBe(picture!.id)
  })

  it('keeps of a built-in endpoint what it does not change', async () => {
    const [transcribe, lite] = builtInEndpoints()
    const url = 'https://speech.example.com/t'
    expect(
      await read([
        { name: 'transcribe', processor: { url }, organizations: ['acme'] },
        { name: 'transcription-lite', price_description: 'free', processor: null },
      ]),
    ).toEqual([
      { ...transcribe, processor: { url, concurrency: 4 }, organizations: ['acme'] },
      { ...lite, price_description: 'free', processor: undefined },
    ])
  })

  it.each([
    ['picture', 'workload', { url: '/prompt', concurrency: 4 }],
    ['picture', { url: 'workload', concurrency: 2 }, { url: '/prompt', concurrency: 2 }],
    ['transcribe', { url: 'workload', concurrency: 1 }, { url: '/transcribe', concurrency: 1 }],
  ])('has %s done by %j, a workload of the platform', async (name, processor, known) => {
    expect((await read([{ name, processor }]))[0]).toMatchObject({ processor: known })
  })

  it.each<[unknown, RegExp]>([
    ['[{', /endpoints\.json are not valid: .*JSON/],
    [{}, /expected array/],
    [[{ name: 'Picture' }], /\[0\]\.name/],
    [[{ name: 'picture', nmae: 1 }], /nmae/],
    [[{ name: 'picture' }, { name: 'picture' }], /must not repeat a name/],
    [
      [
        { name: 'one', id: ID },
        { name: 'two', id: ID },
      ],
      /must not repeat an id/,
    ],
    [
      [{ name: 'picture', processor: { url: 'ftp://x' } }],
      /must be an http or https URL, or "workload".*processor\.url/,
    ],
    [[{ name: 'picture', processor: { url: 'http://x', concurrency: 0 } }], /processor\.concurrency/],
    [[{ name: 'picture', input_schema: '{"type":' }], /must be a JSON Schema.*input_schema/],
    [[{ name: 'picture', input_schema: { type: 'graph' } }], /must be a JSON Schema.*input_schema/],
  ])('is refused when it is %j', async (content, named) => {
    const { message } = await read(content).then(
      () => new Error('it is not'),
      (error: Error) => error,
    )
    expect(message.replaceAll('\n', ' ')).toMatch(named)
  })

  it('names every fault', async () => {
    const faults = read([{ name: 'X' }, { name: 'picture', readme: '', organizations: 'acme' }])
    for (const named of [/\[0\]\.name/, /\[1\]\.readme/, /\[1\]\.organizations/])
      await expect(faults).rejects.toThrow(named)
  })
})

describe('an endpoint that takes graphs', () => {
  const graph = { '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8 } } }
  const input_schema = {
    type: 'object',
    properties: { prompt: { type: 'object' }, webhook_v2: { type: 'string' } },
    required: ['prompt'],
    additionalProperties: false,
  }

  it('has a workload do what its schema allows', async () => {
    const app = await application((_call, response) => json(response, { images: ['aGk='] }))
    const url = `http://127.0.0.1:${app.port}/prompt`
    const endpoints = await read([{ name: 'picture', input_schema, processor: { url, concurrency: 1 } }])
    const bench = await platform(database(), { settings: { endpoints } })
    const jobs = '/inference-endpoints/picture/jobs'
    const shown = await bodyIn(inferenceEndpointSchema, await bench.send('GET /inference-endpoints/picture'))
    expect(JSON.parse(shown.input_schema)).toEqual(input_schema)
    const faults: [object, RegExp][] = [
      [{}, /^input\.prompt: /],
      [{ prompt: graph, seed: 1 }, /^input: .*seed/],
    ]
    for (const [input, detail] of faults) {
      const problem = await problemIn(await bench.send(`POST ${jobs}`, { input }))
      expect(problem).toMatchObject({ type: 'about:blank', status: 400, detail: expect.stringMatching(detail) })
    }
    const { id } = await bodyIn(
      createdInferenceJobSchema,
      await bench.send(`POST ${jobs}`, { input: { prompt: graph } }),
    )
    await vi.waitFor(async () => {
      const job = await bodyIn(inferenceJobSchema, await bench.send(`GET ${jobs}/${id}`))
      expect(job).toMatchObject({ status: 'succeeded', output: { images: ['aGk='] } })
    }, patience)
    expect(app.calls).toMatchObject([{ id, input: { prompt: graph }, request: { url: '/prompt' } }])
  })

  it('may leave that to the workload of the platform, wherever it runs', async () => {
    const app = await application((_call, response) => json(response, { images: [] }))
    const endpoints = await read([{ name: 'drawing', processor: 'workload' }])
    const bench = await platform(database(), {
      settings: { endpoints },
      useWorkload: (work) => work(new URL(`http://127.0.0.1:${app.port}`)),
    })
    await bench.send('POST /inference-endpoints/drawing/jobs', { input: { prompt: graph } })
    await bench.send('POST /inference-endpoints/transcription-lite/jobs', { input: {} })
    await vi.waitFor(() => expect(app.calls).toHaveLength(2), patience)
    expect(app.calls.map(({ request }) => request.url).sort()).toEqual(['/prompt', '/transcribe'])
  })
})
