import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobRecordSchema } from '../../../src/contracts/job.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { receiver } from '../../support/receiver.ts'
import { type Server, startServer } from '../../support/server.ts'
import { listen } from '../../support/site.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({
    JOB_STORE: 'memory',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    UPLOAD_ATTEMPTS: '1',
    WEBHOOK_SCHEDULE_S: '0,0.05',
  })
})
afterAll(async () => void (await server.stop()))

const accept = async (body: object) => expect((await server.post(body)).status).toBe(202)
const read = async (id: string) => (await fetch(`${server.url}/jobs/${id}`)).json()
const recordOf = async (id: string) => jobRecordSchema.parse(await read(id))
const isTold = async (id: string) => {
  const { finish_time, delivery = [] } = await recordOf(id)
  return finish_time !== undefined && delivery.every(({ status }) => status !== 'pending')
}
const told = (id: string) => expect.poll(() => isTold(id)).toBe(true)

describe('an asynchronous upload', () => {
  it('without a receiver is told by the record of the job', async () => {
    const { url } = await listen((request, response) => request.resume().on('end', () => response.end()))
    await accept({
      id: 'put',
      prompt: saving(picture({ rows: 2 })),
      http_upload: { url_prefix: `${url}/up`, async: true },
    })
    await told('put')
    expect(await read('put')).toMatchObject({
      status: 'succeeded',
      images: [1, 2].map((n) => `${url}/up/put_test_0000${n}_.png`),
      delivery: [{ kind: 'http_upload', status: 'delivered', attempts: 2 }],
    })
  })

  it('that fails is told once, and its files can still be read', async () => {
    const { url } = await listen((_request, response) => response.writeHead(403).end())
    const hook = await receiver()
    await accept({ id: 'kept', prompt: saving(picture()), http_upload: { url_prefix: url }, webhook_v2: hook.url })
    await told('kept')
    expect(hook.calls.map(({ body }) => [body!.type, body!.code])).toEqual([['prompt.failed', 'upload-failed']])
    expect(await read('kept')).toMatchObject({
      status: 'failed',
      error: { code: 'upload-failed', status: 502 },
      delivery: [
        { kind: 'http_upload', status: 'failed' },
        { kind: 'webhook_v2', status: 'delivered' },
      ],
    })
    const bytes = await fetch(`${server.url}/jobs/kept/outputs/0`)
    expect([bytes.status, bytes.headers.get('content-type')]).toEqual([200, 'image/png'])
  })
})

it('the receiver hears of pictures that their format cannot hold', async () => {
  const { url, calls } = await receiver()
  const prompt = saving(picture({ width: 16_400, height: 1 }))
  await accept({ id: 'wide', prompt, convert_output: { format: 'webp' }, webhook_v2: url })
  await told('wide')
  expect(calls.map(({ body }) => [body!.type, body!.code])).toEqual([['prompt.failed', 'conversion-failed']])
})

it('a prompt is accepted while its picture has yet to come, and hears that it will not', async () => {
  let arrived = false
  const { url } = await listen((_request, response) => {
    arrived = true
    setTimeout(() => response.writeHead(404).end(), 500)
  })
  const hook = await receiver()
  const began = performance.now()
  await accept({ id: 'slow', prompt: saving(node('LoadImage', { image: `${url}/a.png` })), webhook_v2: hook.url })
  expect(performance.now() - began).toBeLessThan(400)
  await expect.poll(() => arrived).toBe(true)
  expect((await recordOf('slow')).finish_time).toBeUndefined()
  await told('slow')
  expect(hook.calls.map(({ body }) => [body!.code, body!.location])).toEqual([
    ['media-unavailable', 'prompt.image.inputs.image'],
  ])
})

it('images come in the order of the graph, with folders in their names, equal names counted on', async () => {
  const { url, calls } = await receiver()
  const save = (filename_prefix: string, from: string) => node('TestSave', { images: [from, 0], filename_prefix })
  const prompt = {
    z: save('a/b/out', 'image'),
    10: save('x', 'image'),
    2: save('x', 'image'),
    a: save('a/b/out', 'image'),
    image: picture({ rows: 2 }),
  }
  await accept({ id: 'order', prompt, webhook: url })
  await told('order')
  const names = ['x_00001_', 'x_00002_', 'x_00003_', 'x_00004_', 'a/b/out_00001_', 'a/b/out_00002_']
  expect(calls.map(({ body }) => body!.filename)).toEqual(
    [...names, 'a/b/out_00003_', 'a/b/out_00004_'].map((name) => `order_${name}.png`),
  )
})

it('what a prompt has that nobody reads is told beside it', async () => {
  const { url } = await receiver()
  const s3 = { bucket: 'bucket', prefix: '' }
  const response = await server.post({ prompt: saving(picture()), webhook: url, s3, colour: 'red' })
  const { warnings } = (await response.json()) as { warnings: string[] }
  expect([response.status, warnings.map((each) => each.split(' ')[0])]).toEqual([202, ['s3', 'colour']])
})
