import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobRecordSchema } from '../../../src/contracts/job.ts'
import { picture, saving, slow } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ MAX_CONCURRENT_PROMPTS: '1', OUTBOUND_ALLOW: '127.0.0.1', UPLOAD_ATTEMPTS: '1' })
})
afterAll(async () => void (await server.stop()))

interface Answer extends Record<string, unknown> {
  readonly images: readonly string[]
  readonly filenames: readonly string[]
}

const get = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, init)
const jsonOf = async (path: string, init?: RequestInit) => (await (await get(path, init)).json()) as never
const recordOf = async (id: string) => jobRecordSchema.parse(await jsonOf(`/jobs/${id}?result=false`))
const statusOf = async (id: string) => (await get(`/jobs/${id}`)).ok && (await recordOf(id)).status
const post = async (body: object) => {
  const response = await server.post(body)
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
}

interface Event {
  readonly id: number
  readonly name: string
  readonly data: Record<string, unknown>
}

/** The events of a stream up to its end, or the first `count`. */
async function eventsOf(id: string, headers: Record<string, string> = {}, count = Infinity): Promise<Event[]> {
  const reader = (await get(`/jobs/${id}/events`, { headers })).body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const parsed = () =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => !block.startsWith(':'))
      .map((block) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
        return { id: Number(field('id')), name: field('event')!, data: JSON.parse(field('data')!) as never }
      })
  for (let part = await reader.read(); !part.done && parsed().length < count; part = await reader.read())
    text += part.value
  await reader.cancel()
  return parsed()
}

describe('a job that has ended', () => {
  it('keeps the outputs that could not be uploaded', async () => {
    const http_upload = { url_prefix: 'http://127.0.0.1:9/' }
    expect(await post({ prompt: saving(picture()), id: 'kept-back', http_upload })).toMatchObject({
      status: 502,
      body: { code: 'upload-failed' },
    })
    expect(await jsonOf('/jobs/kept-back')).toMatchObject({
      status: 'failed',
      delivery: [{ kind: 'http_upload', status: 'failed', attempts: 1 }],
      outputs: ['/jobs/kept-back/outputs/0'],
    })
    expect((await get('/jobs/kept-back/outputs/0')).headers.get('content-type')).toBe('image/png')
  })

  it('tells its record and its answer, and gives its outputs as bytes', async () => {
    const { body } = await post({ prompt: saving(picture({ rows: 2 })), id: 'kept' })
    expect(await recordOf('kept')).toMatchObject({ id: 'kept', run: 1, status: 'succeeded' })
    const whole = await jsonOf('/jobs/kept')
    expect(whole).toMatchObject({ status: 'succeeded', images: body.images, filenames: body.filenames })
    for (const [i, image] of body.images.entries()) {
      const response = await get(`/jobs/kept/outputs/${i}`)
      expect(response.headers.get('content-type')).toBe('image/png')
      expect(response.headers.get('content-disposition')).toContain(body.filenames[i]!)
      expect(Buffer.from(await response.arrayBuffer()).toString('base64')).toBe(image)
    }
    const part = await get('/jobs/kept/outputs/0', { headers: { range: 'bytes=1-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'PNG'])
    expect((await get('/jobs/kept/outputs/2')).status).toBe(404)
  })

  it('is answered again for the same body under the same id, without running', async () => {
    const asked = { prompt: saving(picture()), id: 'again' }
    const first = await post(asked)
    const second = await post({ id: asked.id, prompt: asked.prompt })
    expect(second.body).toEqual(first.body)
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true'])
    const other = await post({ ...asked, prompt: saving(picture()) })
    expect([other.status, other.body]).toMatchObject([409, { code: 'id-conflict', location: 'id' }])
  })

  it('that failed tells why, and runs again when it is asked again', async () => {
    const broken = { image: { class_type: 'TestFails', inputs: { image: ['x', 0], message: 'dust' } }, x: picture() }
    const asked = { prompt: { ...broken, out: saving(picture()).out }, id: 'fails' }
    expect((await post(asked)).status).toBe(500)
    expect(await jsonOf('/jobs/fails')).toMatchObject({
      status: 'failed',
      run: 1,
      error: { code: 'execution-failed', node_id: 'image' },
    })
    await post(asked)
    expect(await recordOf('fails')).toMatchObject({ run: 2, status: 'failed' })
  })

  it('stays as it is when it is cancelled', async () => {
    await post({ prompt: saving(picture()), id: 'over' })
    const response = await get('/jobs/over', { method: 'DELETE' })
    expect([response.status, await response.json()]).toMatchObject([200, { status: 'succeeded' }])
  })

  it('is listed, and an unknown one is not there', async () => {
    await post({ prompt: saving(picture()), id: 'listed' })
    const { jobs } = (await jsonOf('/jobs')) as { jobs: { id: string }[] }
    expect(jobs.map(({ id }) => id)).toContain('listed')
    for (const path of ['/jobs/nobody', '/jobs/nobody/events', '/jobs/nobody/outputs/0'])
      expect(await jsonOf(path)).toMatchObject({ code: 'job-not-found', status: 404 })
  })
})

describe('jobs that run and wait', () => {
  it('tell where they are, and can be cancelled there', async () => {
    const [running, waiting] = ['running', 'waiting'].map((id) => post({ prompt: saving(slow(200, 10)), id }))
    await expect.poll(() => statusOf('running')).toBe('running')
    await expect.poll(() => statusOf('waiting')).toBe('pending')
    expect(await recordOf('waiting')).toMatchObject({ queue_position: 0 })
    await expect
      .poll(async () => (await recordOf('running')).progress)
      .toMatchObject({ class_type: 'TestSlow', nodes_total: 2, max: 200 })
    for (const id of ['waiting', 'running']) expect((await get(`/jobs/${id}`, { method: 'DELETE' })).status).toBe(202)
    for (const { status, body } of await Promise.all([running!, waiting!]))
      expect([status, body]).toMatchObject([409, { code: 'cancelled' }])
    await expect.poll(() => statusOf('running')).toBe('cancelled')
    expect(await statusOf('waiting')).toBe('cancelled')
  })

  it('are interrupted by id', async () => {
    const interrupt = async (id: unknown) => {
      const response = await fetch(`${server.url}/interrupt`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id }),
      })
      return [response.status, await response.json()]
    }
    const job = post({ prompt: saving(slow(200, 10)), id: 'stopped' })
    await expect.poll(() => statusOf('stopped')).toBe('running')
    expect(await interrupt('stopped')).toEqual([200, { id: 'stopped', interrupted: 'success' }])
    expect((await job).body).toMatchObject({ code: 'cancelled' })
    await expect.poll(() => statusOf('stopped')).toBe('cancelled')
    expect(await interrupt('stopped')).toEqual([404, { id: 'stopped', interrupted: 'failed' }])
    expect(await interrupt('nobody')).toEqual([404, { id: 'nobody', interrupted: 'failed' }])
    expect(await interrupt(7)).toMatchObject([400, { code: 'invalid-request' }])
  })

  it('are joined by the same body under the same id, and run once', async () => {
    const asked = { prompt: saving(slow(30, 10)), id: 'shared' }
    const [one, two] = await Promise.all([post(asked), post(asked)])
    expect(one).toMatchObject({ status: 200 })
    expect(two!.body).toEqual(one!.body)
    expect(await recordOf('shared')).toMatchObject({ run: 1 })
  })

  it('go on without their client when it chose the id, for it can come back', async () => {
    const gone = new AbortController()
    const init = { signal: gone.signal, headers: { 'content-type': 'application/json' } }
    const left = server.post({ prompt: saving(slow(60, 10)), id: 'left' }, init).catch(() => 'gone')
    await expect.poll(() => statusOf('left')).toBe('running')
    gone.abort()
    expect(await left).toBe('gone')
    await expect.poll(() => statusOf('left')).toBe('succeeded')
    expect(await jsonOf('/jobs/left')).toMatchObject({ images: [expect.any(String)] })
  })
})

describe('the events of a job', () => {
  it('are told as they happen, and again to those who come late', async () => {
    const job = post({ prompt: saving(slow(40, 10)), id: 'watched' })
    await expect.poll(() => statusOf('watched')).toBe('running')
    const events = await eventsOf('watched')
    await job
    const names = events.map(({ name }) => name)
    expect(names.slice(0, 2)).toEqual(['status', 'execution_start'])
    expect(names).toEqual(expect.arrayContaining(['executing', 'progress', 'executed']))
    expect(events.at(-1)).toMatchObject({ name: 'complete', data: { prompt_id: 'watched', outputs: [0] } })
    const ids = events.slice(1).map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(events.find(({ name }) => name === 'progress')!.data).toMatchObject({ node: 'image', max: 40 })

    expect((await eventsOf('watched')).slice(1)).toEqual(events.slice(1))
    const resumed = await eventsOf('watched', { 'last-event-id': String(ids.at(-2)) })
    expect(resumed.map(({ name }) => name)).toEqual(['status', 'complete'])
  })

  it('end with what went wrong', async () => {
    const job = post({ prompt: saving(slow(200, 10)), id: 'halted' })
    await expect.poll(() => statusOf('halted')).toBe('running')
    const events = eventsOf('halted')
    await get('/jobs/halted', { method: 'DELETE' })
    expect((await events).at(-1)).toMatchObject({ name: 'failed', data: { code: 'cancelled' } })
    await job
  })
})

it('jobs are forgotten after their time, and their files are gone', async () => {
  const brief = await startServer({ JOB_RETENTION_S: '0.5' })
  try {
    const response = await brief.post({ prompt: saving(picture()), id: 'brief' })
    expect(response.status).toBe(200)
    expect((await fetch(`${brief.url}/jobs/brief`)).status).toBe(200)
    expect(await brief.spooled()).toHaveLength(1)
    await expect.poll(async () => (await fetch(`${brief.url}/jobs/brief`)).status).toBe(404)
    await expect.poll(brief.spooled).toEqual([])
  } finally {
    await brief.stop()
  }
})

it('the oldest outputs go first when there are too many bytes of them', async () => {
  const small = await startServer({ JOB_RETENTION_MB: '0.0005' })
  try {
    for (const id of ['first', 'second', 'third'])
      await small.post({ prompt: saving(picture({ width: 64, height: 64 })), id })
    await expect.poll(async () => (await fetch(`${small.url}/jobs/first`)).status).toBe(404)
  } finally {
    await small.stop()
  }
})
