import { type RequestHandler, Router } from 'express'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { notFound } from '../../../src/platform/base/errors.ts'
import { sendJson } from '../../../src/platform/base/json.ts'
import { readBody } from '../../../src/platform/base/read-body.ts'
import { organizationOf, projectOf } from '../../../src/platform/management/organization.ts'
import { type Ask, type ManagementOptions, problemIn, serveManagement } from '../../support/management.ts'
import { addTenant, platformDatabase, type Tenant } from '../../support/platform-database.ts'
import { twoTenants } from '../../support/tenants.ts'

const database = platformDatabase()
const tenants = twoTenants(database)

const note = z.object({ input: z.unknown(), size: z.number().int().min(1).max(9).optional() })

/** A room as others are: a collection in a project and, outside of projects, jobs. */
function rooms(): ManagementOptions['routes'] {
  const made: RequestHandler = async (request, response) => {
    const { input } = await readBody(note, request)
    sendJson(response.status(201), { input, in: [organizationOf(response).name, response.locals.project?.name] })
  }
  const project = Router()
  project
    .route('/notes/:note')
    .get((_request, response) => sendJson(response, projectOf(response)))
    .post((request, response, next) => {
      if (request.params.note !== 'mine') throw notFound('note')
      return made(request, response, next)
    })
  const jobs = Router()
  jobs.post('/queues/:queue/jobs', made)
  jobs.get('/broken', () => {
    throw new Error('the password is 1234')
  })
  const inference = Router()
  inference.post('/inference-endpoints/:endpoint/jobs', made)
  return { organization: [inference], project: [project, jobs] }
}

const serve = (options: Partial<ManagementOptions> = {}): Promise<Ask> =>
  serveManagement({ db: database().db, routes: rooms(), ...options })

const asMember = (init: RequestInit & { readonly headers?: Record<string, string> } = {}): RequestInit => ({
  ...init,
  headers: { 'service-api-key': tenants.acme.key, 'content-type': 'application/json', ...init.headers },
})

const NOTE = '/organizations/acme/projects/demo/notes/mine'

describe('the checks before an operation', () => {
  it.each([
    ['an unknown route', 'GET /organizations/acme/nothing', {}, 404, 'not-found', 'The resource could not be found.'],
    ['a path with a broken escape', 'GET /organizations/%zz/projects/demo/broken', {}, 404, 'not-found', undefined],
    ['another method', `PATCH ${NOTE}`, {}, 405, 'method-not-allowed', undefined],
    ['no key', `POST ${NOTE}`, {}, 401, 'unauthorized', undefined],
    ['an empty key', `POST ${NOTE}`, { 'service-api-key': '' }, 401, 'unauthorized', undefined],
    ['a wrong key', `POST ${NOTE}`, { 'service-api-key': 'no' }, 401, 'unauthorized', undefined],
    [
      'a wrong key of an unknown organization',
      'GET /organizations/none/projects/demo/broken',
      {},
      401,
      'unauthorized',
      undefined,
    ],
  ])('refuse %s', async (_what, line, headers, status, slug, detail) => {
    const problem = await problemIn(await (await serve())(line, { headers }))
    expect(problem).toMatchObject({ status, type: `https://api.example.com/e/${slug}` })
    if (detail !== undefined) expect(problem.detail).toBe(detail)
  })

  it.each([
    ['an unknown organization', 'organizations/none/projects/demo/broken', 404, 'The organization could not be found.'],
    [
      'a malformed organization',
      'organizations/A%00/projects/demo/broken',
      404,
      'The organization could not be found.',
    ],
    ['an organization of others', 'organizations/other/projects/none/broken', 403, undefined],
    ['an unknown project', 'organizations/acme/projects/none/broken', 404, 'The project could not be found.'],
    ['a malformed project', 'organizations/acme/projects/-/broken', 404, 'The project could not be found.'],
  ])('refuse %s to who has a key', async (_what, path, status, detail) => {
    const problem = await problemIn(await (await serve())(`GET /${path}`, asMember()))
    expect(problem.status).toBe(status)
    if (detail !== undefined) expect(problem.detail).toBe(detail)
  })

  it('never mix up projects of the same name', async () => {
    const ask = await serve()
    const id = async ({ organization, key }: Tenant) => {
      const response = await ask(`GET ${NOTE.replace('acme', organization.name)}`, {
        headers: { 'service-api-key': key },
      })
      return ((await response.json()) as { readonly id: string }).id
    }
    expect([await id(tenants.acme), await id(tenants.other)]).toEqual([
      tenants.acme.project.id,
      tenants.other.project.id,
    ])
  })

  it('name what is allowed', async () => {
    const response = await (await serve())(`DELETE ${NOTE}`)
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
    expect((await (await serve())(`OPTIONS ${NOTE}`)).status).toBe(405)
    expect((await (await serve())(`HEAD ${NOTE}`, asMember())).status).toBe(200)
  })

  it('end a key at once when it is replaced', async () => {
    const { db } = database()
    const gone = await addTenant(db, 'gone')
    const ask = await serve()
    const path = 'GET /organizations/gone/projects/demo/notes/mine'
    const init = { headers: { 'service-api-key': gone.key } }
    expect((await ask(path, init)).status).toBe(200)
    await db.updateTable('users').set({ key_digest: null }).where('id', '=', gone.userId).execute()
    expect((await problemIn(await ask(path, init))).status).toBe(401)
  })
})

describe('a body', () => {
  it('is the user’s to the last digit', async () => {
    const text = '{"input":{"seed":18446744073709551615,"__":"1234567890123456789","x":[-9007199254740993,1.5]}}'
    const response = await (await serve())(`POST ${NOTE}`, asMember({ body: text }))
    expect(response.status).toBe(201)
    expect(await response.text()).toBe(text.replace(/}$/, ',"in":["acme","demo"]}'))
    expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  })

  it.each([
    ['of another type', '{}', { 'content-type': 'text/plain' }, 415, undefined],
    ['without a type', new Uint8Array([123, 125]), { 'content-type': '' }, 415, undefined],
    ['that is compressed', '{}', { 'content-encoding': 'gzip' }, 415, undefined],
    ['that is empty', '', {}, 400, 'body: is not valid JSON: Unexpected end of JSON input'],
    ['that is cut off', '{"input"', {}, 400, undefined],
    ['that is not UTF-8', new Uint8Array([34, 255, 34]), {}, 400, 'body: is not valid JSON: it is not UTF-8'],
    ['that no database can hold', '{"input":"\\u0000"}', {}, 400, undefined],
    ['with half a character', '{"input":["\\ud800"]}', {}, 400, undefined],
    ['that nests too deep', `{"input":${'['.repeat(600)}${']'.repeat(600)}}`, {}, 400, undefined],
    ['that is no object', '[]', {}, 400, 'body: must be an object'],
    ['with wrong members', '{"size":0}', {}, 400, 'input: is required; size: must be at least 1'],
    ['with members of a wrong type', '{"input":1,"size":"1"}', {}, 400, 'size: must be a number'],
  ])('%s is refused', async (_what, body, headers, status, detail) => {
    const problem = await problemIn(await (await serve())(`POST ${NOTE}`, asMember({ body, headers })))
    expect(problem.status).toBe(status)
    if (detail !== undefined) expect(problem.detail).toBe(detail)
  })

  it('may say its character set', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await (await serve())(`POST ${NOTE}`, asMember({ body: '{"input":1}', headers }))).status).toBe(201)
  })

  it('is at most 10 MiB, of whatever type it is', async () => {
    const ask = await serve()
    const bodyOf = (bytes: number) => `{"input":"${'x'.repeat(bytes - 12)}"}`
    expect((await ask(`POST ${NOTE}`, asMember({ body: bodyOf(10 * 2 ** 20) }))).status).toBe(201)
    const headers = { 'content-type': 'text/plain' }
    const problem = await problemIn(await ask(`POST ${NOTE}`, asMember({ body: bodyOf(10 * 2 ** 20 + 1), headers })))
    expect(problem).toMatchObject({ status: 413, title: 'Content Too Large' })
  })

  it('is not looked at before the path', async () => {
    const init = asMember({ body: 'no', headers: { 'content-type': 'text/plain' } })
    const problem = await problemIn(await (await serve())(`POST ${NOTE.replace('mine', 'none')}`, init))
    expect(problem).toMatchObject({ status: 404, detail: 'The note could not be found.' })
  })
})

describe('problems', () => {
  it.each([
    '/organizations/acme/projects/demo/queues/q1/jobs',
    '/organizations/acme/inference-endpoints/transcribe/jobs',
  ])('of making jobs have no type: %s', async (path) => {
    const ask = await serve()
    for (const init of [{}, asMember({ body: '{' })]) {
      const problem = await problemIn(await ask(`POST ${path}?a=1`, init))
      expect(problem).toMatchObject({ type: 'about:blank', instance: expect.stringMatching(/^[0-9A-Z]{10}$/) })
    }
  })

  it('tell nothing of what was not foreseen', async () => {
    const problem = await problemIn(await (await serve())('GET /organizations/acme/projects/demo/broken', asMember()))
    expect(problem).toMatchObject({
      status: 500,
      title: 'Unknown Error',
      type: 'https://api.example.com/e/unknown-error',
      detail: 'Something unexpected happened.',
    })
  })
})

describe('the limit of requests', () => {
  it('is one of a key, in windows that begin with the first', async () => {
    const counted = await addTenant(database().db, 'counted')
    let time = Date.parse('2026-01-01T00:00:00.000Z')
    const servers = [1, 2].map(() => serve({ requestsPerMinute: 3, now: () => time }))
    const [one, two] = await Promise.all(servers)
    const init = { headers: { 'service-api-key': counted.key } }
    const path = 'GET /organizations/counted/projects/demo/notes/mine'
    const statuses = async (...servers: readonly (Ask | undefined)[]) => {
      const found: number[] = []
      for (const ask of servers) found.push((await ask!(path, init)).status)
      return found
    }
    expect(await statuses(one, two, one)).toEqual([200, 200, 200])
    time += 58_500
    const refused = await two!(path, init)
    expect(await problemIn(refused)).toMatchObject({ status: 429, title: 'Too Many Requests' })
    expect(refused.headers.get('retry-after')).toBe('2')
    expect((await one!(path)).status).toBe(401) // not counted, and not refused
    expect((await problemIn(await one!('GET /organizations/none/projects/demo/broken', init))).status).toBe(429)
    time += 1500
    expect(await statuses(one, two, one, two)).toEqual([200, 200, 200, 429])
  })

  it('is told with 409 where lightweight transcriptions are made', async () => {
    const { key } = await addTenant(database().db, 'lite')
    const ask = await serve({ requestsPerMinute: 1 })
    const make = (endpoint: string) =>
      ask(`POST /organizations/lite/inference-endpoints/${endpoint}/jobs`, { headers: { 'service-api-key': key } })
    expect((await make('transcribe')).status).toBe(415)
    expect(await problemIn(await make('transcribe'))).toMatchObject({ status: 429, type: 'about:blank' })
    const refused = await make('transcription-lite')
    expect(await problemIn(refused)).toMatchObject({ status: 409, title: 'Too Many Requests', type: 'about:blank' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
