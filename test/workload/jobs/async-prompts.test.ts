import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobRecordSchema } from '../../../src/contracts/job.ts'
import { picture, saving, slow } from '../../support/prompts.ts'
import { inTurn, receiver } from '../../support/receiver.ts'
import { type Server, startServer } from '../../support/server.ts'

const secret = 'whsec_c2VjcmV0IG9mIHRoZSB0ZXN0cw=='

let server: Server
beforeAll(async () => {
  server = await startServer({
    JOB_STORE: 'memory',
    MAX_CONCURRENT_PROMPTS: '1',
    MAX_QUEUE_DEPTH: '4',
    OUTBOUND_ALLOW: '127.0.0.1',
    WEBHOOK_SECRET: secret,
    WEBHOOK_SCHEDULE_S: '0,0.05',
    PROMPT_WEBHOOK_RETRIES: '3',
    UPLOAD_ATTEMPTS: '1',
  })
})
afterAll(async () => void (await server.stop()))

const post = async (body: object, headers: Record<string, string> = {}) => {
  const response = await server.post(body, { headers: { 'content-type': 'application/json', ...headers } })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}
const get = async (path: string, method = 'GET') => {
  const response = await fetch(`${server.url}${path}`, { method })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const recordOf = async (id: string) => jobRecordSchema.parse((await get(`/jobs/${id}?result=false`)).body)
const ended = (id: string) => expect.poll(async () => (await recordOf(id)).finish_time).toBeDefined()
const spooled = () => server.spooled()
const failing = () =>
  saving({ class_type: 'TestFails', inputs: { image: ['source', 0], message: 'no reason' } }, { source: picture() })

describe('an asynchronous prompt', () => {
  it('is answered at once and told to its webhook, signed, with its images; then its files are gone', async () => {
    const { url, calls } = await receiver({ secret })
    const { status, headers, body } = await post({ prompt: saving(picture({ rows: 2 })), id: 'told', webhook_v2: url })
    expect(status).toBe(202)
    expect(headers.get('location')).toBe('/jobs/told')
    expect(body).toMatchObject({ id: 'told', status: 'ok', webhook_v2: url })
    expect(body).not.toHaveProperty('images')
    await expect.poll(() => calls[0]?.body).toMatchObject({ type: 'prompt.complete', id: 'told', webhook_v2: url })
    expect(calls[0]).toMatchObject({ webhookId: 'told', verified: true, stable: true, status: 200 })
    expect(calls[0]!.body!.images).toHaveLength(2)
    await expect
      .poll(() => recordOf('told'))
      .toMatchObject({
        status: 'succeeded',
        delivery: [{ kind: 'webhook_v2', status: 'delivered', attempts: 1 }],
      })
    await expect.poll(spooled).toEqual([])
    expect((await get('/jobs/told/outputs/0')).status).toBe(404)
    expect((await get('/jobs/told')).body).toMatchObject({ filenames: body.filenames ?? expect.any(Array) })
  })

  it('tells every image to the plain webhook, one after another', async () => {
    const { url, calls } = await receiver()
    await post({ prompt: saving(picture({ rows: 3 })), id: 'plain', webhook: url })
    const names = [1, 2, 3].map((n) => `plain_test_0000${n}_.png`)
    await expect.poll(() => calls.map(({ body }) => body?.filename)).toEqual(names)
    expect(calls[0]!.body).toMatchObject({ event: 'output.complete', id: 'plain', image: expect.any(String) })
  })

  it.each([
    ['a graph that fails', { prompt: failing() }, 'execution-failed'],
    [
      'a picture that is not there',
      { prompt: saving({ class_type: 'LoadImage', inputs: { image: 'http://127.0.0.1:9/x.png' } }) },
      'media-unavailable',
    ],
    [
      'an upload that fails',
      { prompt: saving(picture()), http_upload: { url_prefix: 'http://127.0.0.1:9/' } },
      'upload-failed',
    ],
  ])('tells its webhook of %s', async (_what, body, code) => {
    const { url, calls } = await receiver({ secret })
    const id = `fails-${code}`
    expect(await post({ ...body, id, webhook_v2: `${url}/v2` })).toMatchObject({ status: 202 })
    await expect.poll(() => calls[0]?.body).toMatchObject({ type: 'prompt.failed', id, code })
    await ended(id)
    expect(await recordOf(id)).toMatchObject({ status: 'failed' })
  })

  it('is answered before its pictures are fetched, and refused at once for addresses that are not allowed', async () => {
    const image = { class_type: 'LoadImage', inputs: { image: 'http://10.0.0.1/x.png' } }
    const { status, body } = await post({ prompt: saving(image), webhook_v2: 'http://192.168.0.1/' })
    expect(status).toBe(400)
    expect(Object.keys(body.errors as object).sort()).toEqual(['prompt.image.inputs.image', 'webhook_v2'])
  })

  it('can be asked for with Prefer: respond-async, and read with its images later', async () => {
    const { status } = await post({ prompt: saving(picture()), id: 'later' }, { prefer: 'respond-async' })
    expect(status).toBe(202)
    await ended('later')
    const { body } = await get('/jobs/later')
    expect(body).toMatchObject({ status: 'succeeded', images: [expect.any(String)] })
    const bytes = await fetch(`${server.url}/jobs/later/outputs/0`)
    expect(bytes.headers.get('content-type')).toBe('image/png')
  })

  it('is accepted once under one id, and refused when another prompt has it', async () => {
    const { url, calls } = await receiver()
    const body = { prompt: saving(picture()), id: 'once', webhook_v2: url }
    const both = await Promise.all([post(body), post(body)])
    expect(both.map(({ status }) => status)).toEqual([202, 202])
    expect((await post({ ...body, prompt: saving(picture()) })).body).toMatchObject({ code: 'id-conflict' })
    await expect.poll(async () => (await recordOf('once')).delivery).toMatchObject([{ status: 'delivered' }])
    expect((await post(body)).status).toBe(202)
    expect(calls.map(({ webhookId }) => webhookId)).toEqual(['once'])
  })

  it('runs again under its id when it has failed, and its receiver can tell', async () => {
    const { url, calls } = await receiver()
    const body = { prompt: failing(), id: 'again', webhook_v2: url }
    await post(body)
    await ended('again')
    await post(body)
    await expect.poll(() => calls.map(({ webhookId }) => webhookId)).toEqual(['again', 'again.2'])
    expect(await recordOf('again')).toMatchObject({ run: 2 })
  })

  it('that is to run again is told as one that waits, and can be stopped', async () => {
    const { url, calls } = await receiver()
    const body = { prompt: failing(), id: 'anew', webhook_v2: url }
    await post(body)
    await expect.poll(async () => (await recordOf('anew')).delivery).toMatchObject([{ status: 'delivered' }])
    await post({ prompt: saving(slow(100, 20)), id: 'before' }, { prefer: 'respond-async' })
    await expect.poll(async () => (await recordOf('before')).status).toBe('running')
    expect((await post(body)).status).toBe(202)
    expect(await recordOf('anew')).toMatchObject({ status: 'pending', run: 2, queue_position: 0 })
    expect(await get('/jobs/anew', 'DELETE')).toMatchObject({ status: 202, body: { status: 'cancelled' } })
    await get('/jobs/before', 'DELETE')
    await expect
      .poll(() => calls.map(({ webhookId, body }) => [webhookId, body?.code]))
      .toEqual([
        ['anew', 'execution-failed'],
        ['anew.2', 'cancelled'],
      ])
  })

  it('is stopped by DELETE while it waits or runs, and its receiver hears of it', async () => {
    const { url, calls } = await receiver()
    await post({ prompt: saving(slow(100, 50)), id: 'runs', webhook_v2: url })
    await expect.poll(async () => (await recordOf('runs')).status).toBe('running')
    await post({ prompt: saving(picture()), id: 'waits', webhook_v2: url })
    expect((await get('/jobs/waits')).body).toMatchObject({ status: 'pending', queue_position: 0 })
    expect((await get('/jobs/waits', 'DELETE')).body).toMatchObject({ status: 'cancelled' })
    expect((await get('/jobs/runs', 'DELETE')).status).toBe(202)
    await expect
      .poll(() => calls.map(({ body }) => [body!.id, body!.code]).sort())
      .toEqual([
        ['runs', 'cancelled'],
        ['waits', 'cancelled'],
      ])
  })

  it('goes before others with a larger priority', async () => {
    const { url, calls } = await receiver()
    await post({ prompt: saving(slow(10, 30)), id: 'first', webhook_v2: url })
    await expect.poll(async () => (await recordOf('first')).status).toBe('running')
    await post({ prompt: saving(picture()), id: 'low', webhook_v2: url })
    await post({ prompt: saving(picture()), id: 'high', webhook_v2: url, priority: 5 })
    await expect.poll(() => calls.map(({ webhookId }) => webhookId)).toEqual(['first', 'high', 'low'])
  })

  it('is refused when the queue is full', async () => {
    await post({ prompt: saving(slow(1000, 30)), id: 'full' }, { prefer: 'respond-async' })
    const body = { prompt: saving(picture()) }
    const all = await Promise.all(Array.from({ length: 6 }, () => post(body, { prefer: 'respond-async' })))
    expect(all.map(({ status }) => status).sort()).toEqual([202, 202, 202, 429, 429, 429])
    expect(Number(all.find(({ status }) => status === 429)!.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await get('/jobs/full', 'DELETE')).status).toBe(202)
    const open = async () => {
      const { jobs } = (await get('/jobs')).body as { jobs: { finish_time?: string }[] }
      return jobs.filter(({ finish_time }) => finish_time === undefined).length
    }
    await expect.poll(open).toBe(0)
  })

  it('stays undelivered after its last attempt, can be read, and is delivered when that is asked for', async () => {
    const { url, calls } = await receiver({ behave: inTurn(500, 500, 500, 200) })
    await post({ prompt: saving(picture()), id: 'dead', webhook_v2: url })
    await expect
      .poll(async () => (await recordOf('dead')).delivery)
      .toMatchObject([{ status: 'failed', attempts: 3, last_error: expect.stringContaining('500') }])
    expect((await get('/jobs/dead')).body).toMatchObject({ status: 'succeeded', images: [expect.any(String)] })
    await expect.poll(async () => (await get('/jobs/dead/redeliver', 'POST')).status).toBe(202)
    await expect.poll(async () => (await recordOf('dead')).delivery).toMatchObject([{ status: 'delivered' }])
    expect(calls.map(({ webhookId }) => webhookId)).toEqual(['dead', 'dead', 'dead', 'dead'])
    expect((await get('/jobs/dead/redeliver', 'POST')).body).toMatchObject({ code: 'not-redeliverable' })
    await expect.poll(spooled).not.toContain('dead')
  })
})
