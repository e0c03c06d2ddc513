import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemSchema } from '../../../src/contracts/problem.ts'
import { node, picture, saving } from '../../support/prompts.ts'
import { type Server, startServer } from '../../support/server.ts'

/** How many bodies of each kind are tried. */
const RUNS = 300
const SEED = 20_240_229

let server: Server
beforeAll(async () => {
  server = await startServer({ MAX_BODY_SIZE_MB: '1', LOG_LEVEL: 'error' })
})
afterAll(async () => void (await server.stop()))

const valid = () => JSON.stringify({ prompt: saving(picture()), id: 'a', convert_output: { format: 'png' } })
const evilKeys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '', ' ', '\0', '💥']
const key = fc.oneof(fc.constantFrom(...evilKeys), fc.string())
const hugeNumber = fc.constantFrom(
  '1e999',
  '-1e999',
  '9'.repeat(400),
  `-${'9'.repeat(4200)}`,
  '1e-999',
  '0.1e500',
  '9'.repeat(9000),
)
const json = (value: unknown) => JSON.stringify(value) ?? 'null'
const nested = (depth: number, open: string, close: string, core = '') =>
  open.repeat(depth) + core + close.repeat(depth)

/** A value that is no good as the thing it stands for. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map(json),
  hugeNumber,
  fc.integer({ min: 1, max: 3000 }).map((depth) => nested(depth, '[', ']')),
  fc.integer({ min: 1, max: 3000 }).map((depth) => nested(depth, '{"a":', '}', '1')),
  key.map((name) => `{${json(name)}:1}`),
)
/** A value that JSON lets through and no input is glad of. */
const wild = fc.oneof(
  fc
    .jsonValue({ maxDepth: 2 })
    .map(json)
    .filter((text) => !text.includes('__proto__')),
  fc.constantFrom('1e999', '-1e999', '9'.repeat(400), '-99999999999999999999', '1e-999', '-0', '{"__value__":[]}'),
  fc.integer({ min: 1, max: 200 }).map((depth) => nested(depth, '[', ']')),
)
const plainKeys = evilKeys.filter((name) => name !== '__proto__')
const nodeId = fc.constantFrom('image', 'out', '1', '2', 'nowhere', ...plainKeys)
const link = fc.oneof(
  fc.tuple(nodeId, fc.integer({ min: -3, max: 3 })).map(json),
  fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { maxLength: 4 }).map(json),
)
const known = [
  'KSampler',
  'LoadImage',
  'EmptyLatentImage',
  'VAEDecode',
  'CLIPTextEncode',
  'TestSlow',
  'TestFails',
  'TestSave',
]
const inputNames = 'image images samples model positive latent_image seed steps cfg width sampler_name filename_prefix'
const inputName = fc.constantFrom(...inputNames.split(' '), ...plainKeys)
const inputs = fc.array(fc.tuple(inputName, fc.oneof(link, wild)), { maxLength: 8 }).map(objectOf)
const wellFormed = fc
  .tuple(fc.constantFrom(...known, ...known, ...plainKeys), inputs)
  .map(([type, values]) => `{"class_type":${json(type)},"inputs":${values}}`)
/** Its outputs are never good: one refers to a slot that is not there, and all that `images` may link to is broken. */
const graphOf = (of: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(nodeId, of), { minLength: 1, maxLength: 8 })
    .map((nodes) => `{"prompt":${objectOf([...nodes, ['out', json(node('TestSave', { images: ['image', 9] }))]])}}`)

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([name, value]) => `${json(name)}:${value}`).join(',')}}`
}

/** Bodies that must be refused, by what is wrong with them. */
const kinds: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'text that is not JSON': fc.string().filter((text) => !isJson(text)),
  'valid bodies cut short': fc.nat({ max: valid().length - 2 }).map((length) => valid().slice(0, length)),
  'valid bodies with a character changed to what JSON has no place for': fc
    .tuple(fc.nat(), fc.constantFrom('\0', '\\', '}', '"', '\u2028{'))
    .map(([at, wrong]) => valid().slice(0, at % valid().length) + wrong + valid().slice((at % valid().length) + 1))
    .filter((text) => !isJson(text)),
  'JSON that is no request': junk,
  'requests with a wrong prompt': junk.map((value) => `{"prompt":${value}}`),
  'requests with other wrong fields': fc
    .tuple(fc.constantFrom('id', 'convert_output', 'extra_data'), junk)
    .filter(([name, value]) => !(name === 'extra_data' && /^\{/.test(value)))
    .map(([name, value]) => `{"prompt":{},"${name}":${value}}`),
  'graphs with broken nodes': graphOf(fc.oneof(wellFormed, junk)),
  'graphs of known classes that cannot run': graphOf(wellFormed),
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('a malformed body', () => {
  it.each(Object.entries(kinds))(
    'is answered with a readable problem: %s',
    async (_kind, arbitrary) => {
      const check = fc.asyncProperty(arbitrary, async (body) => {
        const response = await server.post(body)
        const text = await response.text()
        expect(response.status, text).toBeGreaterThanOrEqual(400)
        expect(response.status, text).toBeLessThan(500)
        const problem = problemSchema.parse(JSON.parse(text))
        expect(problem.status).toBe(response.status)
        expect(problem.detail.length, text).toBeGreaterThan(5)
        expect(problem.detail.length, text).toBeLessThan(1000)
      })
      await fc.assert(check, { numRuns: RUNS, seed: SEED })
    },
    60_000,
  )

  it('leaves the server as it was', async () => {
    expect((await server.post(valid())).status).toBe(200)
    expect(server.lines.filter((line) => line.includes('"level"'))).toEqual([])
    expect(Object.keys(kinds).length * RUNS).toBeGreaterThanOrEqual(2000)
  })
})
