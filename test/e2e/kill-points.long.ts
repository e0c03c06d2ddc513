import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { picture, saving, slow } from '../support/prompts.ts'
import { type Server, startServer } from '../support/server.ts'

const home = sharedFolder()

/** One site that is store, receiver and source of pictures; what it does next is told request by request. */
const calls: { readonly path: string; readonly id: string | undefined; readonly body: string }[] = []
let answer: (request: IncomingMessage, response: ServerResponse) => void
const site = createServer((request, response) => {
  let body = ''
  request.on('data', (part: Buffer) => {
    body += part.toString('latin1')
  })
  request.on('end', () => {
    calls.push({ path: request.url!, id: request.headers['webhook-id'] as string | undefined, body })
    answer(request, response)
  })
})
const ok = (_request: IncomingMessage, response: ServerResponse) => void response.end('{}')
const status = (code: number) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(code).end()
const silence = () => undefined
let url = ''

let server: Server
const start = () =>
  startServer({
    COMFY_HOME: home(),
    MAX_CONCURRENT_PROMPTS: '1',
    OUTBOUND_ALLOW: '127.0.0.1',
    WEBHOOK_SCHEDULE_S: '0,0.1',
    WEBHOOK_TIMEOUT_S: '5',
  })
const restart = async () => {
  await server.stop('SIGKILL')
  answer = ok
  server = await start()
}

beforeAll(async () => {
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready))
  url = `http://127.0.0.1:${(site.address() as { port: number }).port}`
  server = await start()
})
afterAll(async () => {
  await server.stop()
  site.closeAllConnections()
  site.close()
})

const send = (id: string, body: object) => server.post({ id, ...body }).then((response) => response.status)
const toldAs = (id: string) => calls.filter((call) => call.id === id).map(({ body }) => JSON.parse(body).type as string)
const toldOf = (id: string) => expect.poll(() => toldAs(id), { timeout: 20_000 })
const called = (path: string) => expect.poll(() => calls.some((call) => call.path === path)).toBe(true)
const statusOf = async (id: string) =>
  ((await (await fetch(`${server.url}/jobs/${id}`)).json()) as { status?: string }).status
const v2 = () => ({ webhook_v2: `${url}/v2` })

describe('a server that is killed at once', () => {
  it('while prompts wait does them after its restart', async () => {
    answer = ok
    expect(await send('busy', { prompt: saving(slow(200, 50)), ...v2() })).toBe(202)
    expect(await send('waits', { prompt: saving(picture()), ...v2() })).toBe(202)
    expect(await send('waits-too', { prompt: saving(picture()), ...v2() })).toBe(202)
    await restart()
    expect((await fetch(`${server.url}/jobs/busy`, { method: 'DELETE' })).status).toBe(202)
    for (const id of ['waits', 'waits-too']) await toldOf(id).toEqual(['prompt.complete'])
    await toldOf('busy').toEqual(['prompt.failed'])
  })

  it('while a picture is fetched fetches it again', async () => {
    answer = silence
    const image = { class_type: 'LoadImage', inputs: { image: `${url}/picture.png` } }
    expect(await send('fetches', { prompt: saving(image), ...v2() })).toBe(202)
    await called('/picture.png')
    await restart()
    await toldOf('fetches').toEqual(['prompt.failed']) // the site has no picture, and says so now
  })

  it('while a prompt runs runs it again', async () => {
    answer = ok
    expect(await send('runs', { prompt: saving(slow(20, 20)), ...v2() })).toBe(202)
    await expect.poll(() => statusOf('runs')).toBe('running')
    await restart()
    await toldOf('runs').toEqual(['prompt.complete'])
  })

  it('while files are uploaded uploads them again, and runs nothing', async () => {
    answer = silence
    expect(await send('uploads', { prompt: saving(picture()), http_upload: { url_prefix: url }, ...v2() })).toBe(202)
    await called('/uploads_test_00001_.png')
    await restart()
    await toldOf('uploads').toEqual(['prompt.complete'])
    expect(server.lines.join()).not.toContain('"nodes_run":2')
  })

  it('while a receiver is called calls it again', async () => {
    answer = silence
    expect(await send('calls', { prompt: saving(picture()), ...v2() })).toBe(202)
    await toldOf('calls').toHaveLength(1)
    await restart()
    await toldOf('calls').toEqual(['prompt.complete', 'prompt.complete'])
  })

  it('between two attempts makes the next', async () => {
    answer = status(500)
    expect(await send('retries', { prompt: saving(picture()), ...v2() })).toBe(202)
    await toldOf('retries').not.toHaveLength(0)
    await restart()
    await expect.poll(() => statusOf('retries'), { timeout: 20_000 }).toBe('succeeded')
    await expect.poll(server.spooled).toEqual([])
  })

  it('after one of two images was told tells the other', async () => {
    const images = () =>
      calls.filter(({ path }) => path === '/plain').map(({ body }) => JSON.parse(body).filename as string)
    answer = (request, response) => (images().length === 1 ? ok(request, response) : undefined)
    expect(await send('two', { prompt: saving(picture({ rows: 2 })), webhook: `${url}/plain` })).toBe(202)
    await expect.poll(images).toHaveLength(2)
    await restart()
    await expect.poll(images).toEqual(['two_test_00001_.png', 'two_test_00002_.png', 'two_test_00002_.png'])
  })

  it('while it takes a prompt in has taken it or not, and asking again makes it one', async () => {
    answer = ok
    const body = { prompt: saving(picture()), ...v2() }
    const asked = send('asked', body).catch(() => 0)
    await restart()
    expect([0, 202]).toContain(await asked)
    expect(await send('asked', body)).toBe(202)
    await toldOf('asked').not.toHaveLength(0)
    expect(new Set(toldAs('asked'))).toEqual(new Set(['prompt.complete']))
  })

  it('after a prompt was cancelled tells that it was', async () => {
    answer = silence
    expect(await send('stopped', { prompt: saving(slow(200, 50)), ...v2() })).toBe(202)
    await expect.poll(() => statusOf('stopped')).toBe('running')
    await fetch(`${server.url}/jobs/stopped`, { method: 'DELETE' })
    await toldOf('stopped').toHaveLength(1)
    await restart()
    await toldOf('stopped').toEqual(['prompt.failed', 'prompt.failed'])
  })

  it('when all is told still knows the record, and leaves nothing behind', async () => {
    answer = ok
    expect(await send('done', { prompt: saving(picture()), ...v2() })).toBe(202)
    await toldOf('done').toEqual(['prompt.complete'])
    await expect.poll(() => statusOf('done')).toBe('succeeded')
    await restart()
    expect(await statusOf('done')).toBe('succeeded')
    await expect.poll(server.spooled, { timeout: 20_000 }).toEqual([])
    expect(toldAs('done')).toEqual(['prompt.complete'])
  })
})
