import { afterAll, beforeAll, expect, it } from 'vitest'
import { picture, saving } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

let server: Server
beforeAll(async () => {
  server = await startServer({ API_KEY: 'open sesame', MODEL_DIR: 'models' })
})
afterAll(async () => void (await server.stop()))

const key = { 'service-api-key': 'open sesame' }
const get = (path: string, init?: RequestInit) => fetch(`${server.url}${path}`, { headers: key, ...init })

it('tells that it is well and ready, to anybody', async () => {
  const health = await get('/health', { headers: {} })
  expect([health.status, await health.json()]).toEqual([200, { version: '1.16.1', status: 'healthy' }])
  const ready = await get('/ready', { headers: {} })
  expect([ready.status, await ready.json()]).toEqual([200, { version: '1.16.1', status: 'ready' }])
})

it('lists the model files by kind, and kinds without files too', async () => {
  const models = (await (await get('/models')).json()) as Record<string, string[]>
  expect(models.checkpoints).toContain('easel-demo.safetensors')
  expect(models.controlnet).toEqual([])
})

it('describes its nodes, one or all, and nothing of a class it does not know', async () => {
  const all = (await (await get('/object_info')).json()) as Record<string, { input: unknown }>
  expect(Object.keys(all)).toEqual(expect.arrayContaining(['KSampler', 'TestSlow']))
  expect(await (await get('/object_info/TestSlow')).json()).toEqual({ TestSlow: all.TestSlow })
  const unknown = await get('/object_info/__proto__')
  expect([unknown.status, await unknown.json()]).toEqual([200, {}])
  expect(await (await get('/object_info/KSampler')).text()).toContain('"max":18446744073709551615')
})

it('asks for the key everywhere else', async () => {
  for (const headers of [{}, { 'service-api-key': 'wrong' }]) {
    const refused = await get('/models', { headers })
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, 'forbidden'])
  }
  const { status } = await server.post(
    { prompt: saving(picture()) },
    { headers: { 'content-type': 'application/json' } },
  )
  expect(status).toBe(403)
})

it('answers what it does not know with a problem', async () => {
  const nowhere = await get('/nowhere')
  expect([nowhere.status, await nowhere.json()]).toMatchObject([404, { code: 'not-found' }])
  const wrong = await get('/interrupt')
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  expect(await wrong.json()).toMatchObject({ code: 'method-not-allowed' })
  expect((await get('/health', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD')
  expect((await get('/%ff')).status).toBeLessThan(500)
})

it('answers in the media type that the caller prefers', async () => {
  const typeFor = async (accept: string) =>
    (await get('/x', { headers: { ...key, accept } })).headers.get('content-type')
  expect(await typeFor('*/*')).toBe('application/json; charset=utf-8')
  expect(await typeFor('text/html')).toBe('application/json; charset=utf-8')
  expect(await typeFor('application/problem+json, application/json;q=0.5')).toBe(
    'application/problem+json; charset=utf-8',
  )
})

it('takes over a request id it can use, and makes one otherwise', async () => {
  const idFor = async (id: string) =>
    (await get('/health', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
  expect(await idFor('abc-1')).toBe('abc-1')
  expect(await idFor('x'.repeat(200))).toMatch(/^[0-9a-f-]{36}$/)
})
