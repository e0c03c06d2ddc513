import { describe, expect, it, vi } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { imdsProblemSchema } from '../../../src/contracts/platform/imds.ts'
import { createImdsApp } from '../../../src/platform/imds/app.ts'
import type { InstanceView } from '../../../src/platform/imds/instance.ts'
import { type Asked, identity, served } from './ask.ts'

/** An instance that notes what is done to it, and its metadata service. */
async function service(
  view: InstanceView | undefined = { identity, status: { ready: false, started: true }, deletion_cost: 7 },
) {
  let current: InstanceView | undefined = view
  let now = 0
  let issued = 0
  const done: unknown[] = []
  const logged: unknown[] = []
  const action =
    (name: string) =>
    async (...facts: readonly unknown[]) => {
      done.push([name, ...facts])
    }
  const app = createImdsApp({
    instance: {
      view: async () => current,
      setDeletionCost: async (deletion_cost) => {
        if (current) current = { ...current, deletion_cost }
      },
      recreate: action('recreate'),
      restart: () => Promise.reject(new Error('the node is away')),
      reallocate: action('reallocate'),
    },
    tokens: { issue: async ({ machine_id }) => `token ${++issued} of ${machine_id}` },
    cacheSeconds: 180,
    baseUrl: 'https://api.example.com',
    now: () => now,
    log: { ...silentLog, error: (facts, message) => logged.push([message, String(facts.err)]) },
  })
  const { ask } = await served(app)
  const become = (next: InstanceView | undefined) => {
    current = next
  }
  const wait = (seconds: number) => {
    now += seconds * 1000
  }
  return { ask, become, wait, done, logged }
}

const metadata = ['Metadata', 'true'] as const
const json = ['Content-Type', 'application/json'] as const
const sending = (method: string, body: unknown): Asked => ({
  method,
  headers: [metadata, json],
  body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
})

describe('what an instance may ask', () => {
  it('tells its health and its deletion cost', async () => {
    const { ask } = await service()
    expect(await ask('/v1/status?of=another')).toMatchObject({ status: 200, body: { ready: false, started: true } })
    const answer = await ask('/v1/deletion-cost')
    expect(answer).toMatchObject({ status: 200, body: { deletion_cost: 7 } })
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.headers['x-powered-by']).toBeUndefined()
  })

  it.each([-2_147_483_648, 0, 2_147_483_647])('replaces the deletion cost by %i', async (deletion_cost) => {
    const { ask } = await service()
    const set = await ask('/v1/deletion-cost', sending('PUT', { deletion_cost, and: 'more' }))
    expect(set).toMatchObject({ status: 204, body: undefined })
    expect((await ask('/v1/deletion-cost')).body).toEqual({ deletion_cost })
  })

  it('hands out a token again for three minutes, unless it says something else by now', async () => {
    const { ask, wait, become } = await service()
    const token = async () => (await ask('/v1/token')).body.jwt
    const first = await token()
    expect(first).toBe(`token 1 of ${identity.machine_id}`)
    wait(179)
    expect(await token()).toBe(first)
    wait(1)
    expect(await token()).toBe(`token 2 of ${identity.machine_id}`)
    become({ identity: { ...identity, machine_id: 'm2' }, status: { ready: true, started: true }, deletion_cost: 0 })
    expect(await token()).toBe('token 3 of m2')
  })

  it('answers an action first and does it then', async () => {
    const { ask, done } = await service()
    expect(await ask('/v1/recreate', { method: 'POST' })).toMatchObject({ status: 204, body: undefined })
    await vi.waitFor(() => expect(done).toEqual([['recreate']]))
    const reason = '🐌'.repeat(1000)
    expect((await ask('/v1/reallocate', sending('POST', { reason, Reason: 'no' }))).status).toBe(204)
    await vi.waitFor(() => expect(done[1]).toEqual(['reallocate', reason]))
  })

  it('logs an action that fails after its answer', async () => {
    const { ask, logged } = await service()
    expect((await ask('/v1/restart', sending('POST', 'ignored'))).status).toBe(204)
    await vi.waitFor(() => expect(logged).toHaveLength(1))
    expect(logged).toEqual([['an instance could not do what it asked for itself', 'Error: the node is away']])
  })

  it('answers HEAD as GET, without the body', async () => {
    const { ask } = await service()
    expect(await ask('/v1/status', { method: 'HEAD' })).toMatchObject({ status: 200, body: undefined })
  })
})

describe('what it is refused', () => {
  const large = JSON.stringify({ reason: 'x'.repeat(70_000) })
  const reason = { reason: ['must have 1 to 1000 characters'] }
  const integer = { deletion_cost: ['must be an integer from -2147483648 to 2147483647'] }

  type Refusal = [what: string, path: string, asked: Asked, status: number, code: string, errors?: object]
  const forwarded = (name: string): Refusal => [
    name,
    '/v1/status',
    { headers: [metadata, [name, '']] },
    403,
    'forwarded-header-not-allowed',
  ]
  const refusals: readonly Refusal[] = [
    ['no header', '/v1/status', { headers: [] }, 403, 'metadata-header-required'],
    ['another value', '/v1/status', { headers: [['Metadata', 'True']] }, 403, 'metadata-header-required'],
    ['the header twice', '/v1/status', { headers: [metadata, metadata] }, 403, 'metadata-header-required'],
    ['no header at no path', '/v2', { headers: [] }, 403, 'metadata-header-required'],
    ...['X-Forwarded-For', 'x-forwarded-host', 'X-FORWARDED-PROTO'].map(forwarded),
    ['an unknown path', '/v1/nothing', {}, 404, 'not-found'],
    ['another case', '/v1/Status', {}, 404, 'not-found'],
    ['a final slash', '/v1/status/', {}, 404, 'not-found'],
    ['another method', '/v1/token', sending('POST', large), 405, 'method-not-allowed'],
    ['GET of an action', '/v1/restart', {}, 405, 'method-not-allowed'],
    ['OPTIONS', '/v1/deletion-cost', { method: 'OPTIONS' }, 405, 'method-not-allowed'],
    ['a large body', '/v1/reallocate', { ...sending('POST', large), headers: [metadata] }, 413, 'content-too-large'],
    [
      'no media type',
      '/v1/reallocate',
      { ...sending('POST', '{}'), headers: [metadata] },
      415,
      'unsupported-media-type',
    ],
    [
      'another media type',
      '/v1/deletion-cost',
      { method: 'PUT', headers: [metadata, ['Content-Type', 'application/merge-patch+json']], body: '{' },
      415,
      'unsupported-media-type',
    ],
    ['no body', '/v1/deletion-cost', { method: 'PUT', headers: [metadata, json] }, 400, 'invalid-request', {}],
    ['half a body', '/v1/reallocate', sending('POST', '{"reason":'), 400, 'invalid-request', {}],
    ['a list', '/v1/reallocate', sending('POST', []), 400, 'invalid-request', {}],
    ['null', '/v1/reallocate', sending('POST', 'null'), 400, 'invalid-request', {}],
    ['bytes', '/v1/reallocate', sending('POST', Buffer.from('7b22ff227d', 'hex')), 400, 'invalid-request', {}],
    ['no cost', '/v1/deletion-cost', sending('PUT', {}), 400, 'invalid-request', { deletion_cost: ['is required'] }],
    ['half a cost', '/v1/deletion-cost', sending('PUT', { deletion_cost: 1.5 }), 400, 'invalid-request', integer],
    ['a cost in words', '/v1/deletion-cost', sending('PUT', { deletion_cost: '1' }), 400, 'invalid-request', integer],
    ['a huge cost', '/v1/deletion-cost', sending('PUT', { deletion_cost: 2 ** 31 }), 400, 'invalid-request', integer],
    [
      'another key',
      '/v1/reallocate',
      sending('POST', { Reason: 'x' }),
      400,
      'invalid-request',
      { reason: ['is required'] },
    ],
    [
      'no reason',
      '/v1/reallocate',
      sending('POST', { reason: null }),
      400,
      'invalid-request',
      { reason: ['must be a string'] },
    ],
    [
      'a number',
      '/v1/reallocate',
      sending('POST', { reason: 1 }),
      400,
      'invalid-request',
      { reason: ['must be a string'] },
    ],
    ['an empty reason', '/v1/reallocate', sending('POST', { reason: '' }), 400, 'invalid-request', reason],
    ['a long reason', '/v1/reallocate', sending('POST', { reason: 'x'.repeat(1001) }), 400, 'invalid-request', reason],
  ]

  it.each(refusals)('%s at %s', async (_what, path, asked, status, code, errors = {}) => {
    const { ask, done, logged } = await service()
    const answer = await ask(path, asked)
    expect(answer.status).toBe(status)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    const problem = imdsProblemSchema.parse(answer.body)
    expect(problem).toMatchObject({ status, code, type: `https://api.example.com/e/${code}` })
    expect(problem.errors).toEqual(errors)
    expect(problem.instance).toBe(`https://api.example.com/i/${answer.headers['x-request-id']}`)
    expect([done, logged]).toEqual([[], []])
  })

  it('says what is wrong with a property in its detail, too', async () => {
    const { ask } = await service()
    const { body } = await ask('/v1/reallocate', sending('POST', { reason: '' }))
    expect(body).toMatchObject({ title: 'Bad Request', detail: 'reason: must have 1 to 1000 characters' })
  })

  it('says which methods a path has', async () => {
    const { ask } = await service()
    expect((await ask('/v1/deletion-cost', { method: 'DELETE' })).headers.allow).toBe('GET, HEAD, PUT')
    expect((await ask('/v1/recreate')).headers.allow).toBe('POST')
  })

  it.each([
    ['/v1/token', {}],
    ['/v1/status', {}],
    ['/v1/deletion-cost', {}],
    ['/v1/deletion-cost', sending('PUT', large)],
    ['/v1/recreate', { method: 'POST' }],
    ['/v1/restart', { method: 'POST' }],
    ['/v1/reallocate', { method: 'POST' }],
  ] as const)('anything at %s once it is gone', async (path, asked) => {
    const { ask, become, done } = await service()
    become(undefined)
    expect(await ask(path, asked)).toMatchObject({
      status: 404,
      body: {
        title: 'Not Found',
        code: 'container-not-found',
        detail: 'The container instance could not be found.',
        errors: {},
      },
    })
    expect(done).toEqual([])
  })

  it('the reason why something inside failed', async () => {
    const logged: unknown[] = []
    const away = () => Promise.reject(new Error('the database is away'))
    const instance = { view: away, setDeletionCost: away, recreate: away, restart: away, reallocate: away }
    const tokens = { issue: away }
    const log = { ...silentLog, error: (facts: object) => logged.push(facts) }
    const baseUrl = 'http://localhost:1'
    const { ask } = await served(createImdsApp({ instance, tokens, cacheSeconds: 1, baseUrl, now: Date.now, log }))
    const { status, body } = await ask('/v1/status')
    expect({ status, ...body }).toMatchObject({
      status: 500,
      title: 'Unknown Error',
      code: 'unknown-error',
      errors: {},
    })
    expect(JSON.stringify(body)).not.toContain('database')
    expect(logged).toEqual([expect.objectContaining({ err: new Error('the database is away') })])
  })
})
