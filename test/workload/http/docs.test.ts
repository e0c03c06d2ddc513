import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openApiDocument } from '../../../src/workload/http/docs/document.ts'
import { node, picture, saving, slow } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

type Json = Readonly<Record<string, unknown>>
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Json }>>
}
interface Document {
  readonly openapi: string
  readonly info: Json
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const key = 'open sesame'
let server: Server
let document: Document
const ajv = addFormats.default(new Ajv2020({ strict: false }))
beforeAll(async () => {
  server = await startServer({ API_KEY: key, MAX_BODY_SIZE_MB: '1', JOB_STORE: 'memory' })
  document = (await (await ask('GET', '/docs/json')).json()) as Document
  ajv.addSchema(document, 'document')
  await ask('POST', '/prompt', { prompt: saving(picture()), id: 'done' })
})
afterAll(async () => void (await server.stop()))

const ask = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(server.url + path, {
    method,
    headers: { 'service-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })

/** A place in the document as a JSON pointer. */
const at = (...steps: readonly (string | number)[]) =>
  [
    'document#',
    ...steps.map((step) => encodeURIComponent(String(step).replaceAll('~', '~0').replaceAll('/', '~1'))),
  ].join('/')

/** The path by which the document knows a URL. */
function documentedPath(url: string): string {
  const { pathname } = new URL(url)
  const matches = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname)
  return pathname in document.paths ? pathname : Object.keys(document.paths).find(matches)!
}

/** Expects that the document knows this answer to `method`: its status, its type, and its body. */
async function expectDocumented(method: string, response: Response): Promise<void> {
  const path = documentedPath(response.url)
  const { responses } = document.paths[path]![method.toLowerCase()]!
  expect(Object.keys(responses), `${method} ${path}`).toContain(String(response.status))
  const { content = {} } = responses[response.status]!
  const body = await response.arrayBuffer()
  if (body.byteLength === 0) return
  const type = response.headers.get('content-type')!.split(';')[0]!
  const known = Object.keys(content).find((media) => type.startsWith(media.split(/[;*]/)[0]!))
  expect(known, `${method} ${path} answers ${type}`).toBeDefined()
  if (!type.endsWith('json')) return
  const fits = ajv.compile({
    $ref: at('paths', path, method.toLowerCase(), 'responses', response.status, 'content', known!, 'schema'),
  })
  const sent: unknown = JSON.parse(new TextDecoder().decode(body))
  expect(fits(sent), `${method} ${path}: ${JSON.stringify(fits.errors)} in ${JSON.stringify(sent)}`).toBe(true)
}

describe('the document', () => {
  it('is OpenAPI 3.1 of this version of the interface, in JSON and in YAML', async () => {
    expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: { version: '1.16.1' } })
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true })
    const yaml = await ask('GET', '/docs/yaml')
    expect(yaml.headers.get('content-type')).toMatch(/^application\/yaml/)
    expect(parse(await yaml.text())).toEqual(document)
    expect(JSON.parse(JSON.stringify(openApiDocument()))).toEqual(document)
  })

  it('has no operation that this server has not', async () => {
    const values: Json = { id: 'done', index: 0, folder: 'checkpoints', classType: 'TestSlow', file: 'swagger-ui.css' }
    for (const [path, item] of Object.entries(document.paths))
      for (const method of Object.keys(item)) {
        const url = path.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
        const response = await ask(method.toUpperCase(), url, method === 'post' ? {} : undefined)
        const answer = await response.clone().text()
        expect(answer, `${method} ${path}`).not.toMatch(/there is no [A-Z]+ \//)
        await expectDocumented(method, response)
      }
  })

  it.each<readonly [what: string, method: string, path: string, status: number, body: unknown]>([
    ['a picture', 'POST', '/prompt', 200, { prompt: saving(picture()), convert_output: { format: 'webp' }, x: 1 }],
    ['a bad graph', 'POST', '/prompt', 400, { prompt: saving(node('Nobody')) }],
    ['bad fields', 'POST', '/prompt', 400, { prompt: 1, id: '..', s3: {}, convert_output: { format: 'bmp' } }],
    ['no JSON', 'POST', '/prompt', 400, '{'],
    ['a node that fails', 'POST', '/prompt', 500, { prompt: failing() }],
    ['too large a body', 'POST', '/prompt', 413, { prompt: 'x'.repeat(2 << 20) }],
    ['a prompt of ComfyUI’s clients', 'POST', '/api/prompt', 200, { prompt: saving(picture()), client_id: 'me' }],
    ['a bad prompt of ComfyUI’s clients', 'POST', '/api/prompt', 400, { prompt: saving(node('Nobody')) }],
    ['an unknown job', 'GET', '/jobs/nobody', 404, undefined],
    ['a finished job', 'GET', '/jobs/done', 200, undefined],
    ['an unknown output', 'GET', '/jobs/done/outputs/7', 404, undefined],
    ['nothing to stop', 'POST', '/interrupt', 404, { id: 'nobody' }],
    ['no id to stop', 'POST', '/interrupt', 400, { id: 1 }],
    ['a folder that is not there', 'GET', '/models/nowhere', 404, undefined],
    ['no form', 'POST', '/upload/image', 415, {}],
    ['no name of a picture', 'GET', '/view', 404, undefined],
  ])('knows the answer to %s', async (_what, method, path, status, body) => {
    const response = await ask(method, path, body)
    expect(response.status, await response.clone().text()).toBe(status)
    await expectDocumented(method, response)
  })

  it('knows the answers while a job waits and runs, when it is cancelled, and in parts', async () => {
    const running = ask('POST', '/prompt', { prompt: saving(slow(1000, 20)), id: 'busy' })
    await expect.poll(async () => (await ask('GET', '/jobs/busy')).status).toBe(200)
    await expectDocumented('GET', await ask('GET', '/jobs/busy'))
    await expectDocumented('POST', await ask('POST', '/prompt', { prompt: saving(picture()), id: 'busy' }))
    const cancelled = await ask('DELETE', '/jobs/busy')
    expect(cancelled.status).toBe(202)
    await expectDocumented('DELETE', cancelled)
    await expectDocumented('POST', await running)
    for (const [range, status] of [
      ['bytes=0-9', 206],
      ['bytes=9999999-', 416],
    ] as const) {
      const part = await ask('GET', '/jobs/done/outputs/0', undefined, { range })
      expect(part.status).toBe(status)
      await expectDocumented('GET', part)
    }
  })

  it('knows the answer to who does not wait, and to who asks for another form of errors', async () => {
    const accepted = await ask('POST', '/prompt', { prompt: saving(picture()) }, { prefer: 'respond-async' })
    expect(accepted.status).toBe(202)
    await expectDocumented('POST', accepted)
    const problem = await ask('GET', '/jobs/nobody', undefined, { accept: 'application/problem+json' })
    await expectDocumented('GET', problem)
  })
})

const failing = () => saving(node('TestFails', { image: ['source', 0], message: 'no luck' }), { source: picture() })

describe('the page', () => {
  it.each(['/docs', '/docs/'])('at %s has all its parts here', async (path) => {
    const response = await ask('GET', path)
    const html = await response.text()
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/)
    expect(html).not.toContain('//')
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => new URL(link!, server.url + path))
    const types = await Promise.all(
      links.map(async ({ pathname }) => {
        const part = await ask('GET', pathname)
        return [part.status, part.headers.get('content-type')?.split(';')[0]]
      }),
    )
    expect(types).toEqual([
      [200, 'image/png'],
      [200, 'text/css'],
      [200, 'text/javascript'],
      [200, 'text/javascript'],
    ])
    const script = await (await ask('GET', links.at(-1)!.pathname)).text()
    expect(script).toContain(`new URL('../json', document.currentScript.src)`)
  })

  it('asks for the key, and serves nothing but its own parts', async () => {
    const status = async (method: string, path: string, headers = {}) =>
      (await ask(method, path, undefined, headers)).status
    for (const path of ['/docs', '/docs/json', '/docs/yaml', '/docs/static/swagger-ui.css'])
      expect(await status('GET', path, { 'service-api-key': '' })).toBe(403)
    for (const name of ['index.html', 'swagger-initializer.js', 'swagger-ui-init.js', 'package.json', '..%2fjson', ''])
      expect(await status('GET', `/docs/static/${name}`)).toBe(404)
    expect(await status('POST', '/docs/static/swagger-ui.css')).toBe(405)
    expect(await status('POST', '/docs')).toBe(405)
  })
})
