import { expect } from 'vitest'
import { imdsProblemSchema } from '../../../src/contracts/platform/imds.ts'
import { type Problem, problemSchema, problemStatus } from '../../../src/contracts/platform/problem.ts'
import { BASE_URL } from '../../support/management.ts'
import type { Answer } from './ask.ts'
import { jsonOf } from './bench.ts'
import type { Asked, Fault, Operation, Surface } from './operation.ts'
import { STORAGE_URL } from './platform.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** Members whose inside is the user's. */
const free = ['input', 'output', 'metadata', 'json_log', 'environment_variables', 'labels']
const timely = /^(.*_time|time|uploaded)$/

type Where = Pick<Asked, 'surface' | 'method' | 'path'>
type Expected = Pick<Fault, 'status' | 'slug' | 'detail' | 'also'>

const isJobCreate = ({ surface, method, path }: Where): boolean =>
  surface === 'management' && method === 'POST' && path.endsWith('/jobs')

/** What every answer has, whatever it says (section 2.2). */
function checkStatus({ status, headers, bytes }: Answer, expected: number, surface: Surface): void {
  expect([status, status === expected ? '' : String(bytes)]).toEqual([expected, ''])
  // What a workload answers is not touched.
  if (surface !== 'gateway' || status >= 400) expect(headers['x-request-id']).toMatch(UUID)
}

/** Pages of every site may read what storage answers (section 22.1). */
function checkReadable({ headers }: Answer, surface: Surface): void {
  if (surface === 'storage') expect(headers['access-control-allow-origin']).toBe('*')
}

/** A success: with all that its schema says and with nothing else, or without a body (sections 2.2 and 6). */
export function checkSuccess(answer: Answer, { surface, status, answer: schema, check }: Operation): void {
  const { headers, bytes } = answer
  checkStatus(answer, status, surface)
  checkReadable(answer, surface)
  check?.(answer)
  if (!schema && !check) expect([bytes.length, headers['content-type']]).toEqual([0, undefined])
  if (!schema) return
  expect(headers['content-type']).toBe('application/json')
  const body = jsonOf(answer)
  // What a schema drops or fills in is what the answer has too much or too little.
  expect(schema.parse(body)).toEqual(body)
  checkMembers(body)
}

/** No member is null but the metadata of inference jobs, and times are written in one way (sections 2.2 and 6). */
function checkMembers(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    const mayBeNull = name === 'metadata' && 'inference_endpoint_name' in value
    if (!mayBeNull) expect(inner, name).not.toBeNull()
    if (free.includes(name)) continue
    if (timely.test(name)) expect(inner, name).toMatch(TIMESTAMP)
    checkMembers(inner)
  }
}

/** The refusal of a request for one fault. */
export function checkRefusal(answer: Answer, asked: Where, expected: Expected): void {
  checkProblem(answer, asked, expected)
  checkReadable(answer, asked.surface)
  expected.also?.(answer)
}

/** A problem object to the letter of section 4. */
export function checkProblem(answer: Answer, asked: Where, { status, slug, detail }: Expected): void {
  const { headers } = answer
  const expected = problemStatus[status]
  checkStatus(answer, status, asked.surface)
  expect(headers['content-type']).toBe('application/problem+json')
  const problem =
    asked.surface === 'imds' ? imdsProblemIn(answer, slug ?? expected.slug) : problemSchema.parse(jsonOf(answer))
  const base = asked.surface === 'storage' ? STORAGE_URL : BASE_URL
  const type = isJobCreate(asked) ? 'about:blank' : `${base}/e/${slug ?? expected.slug}`
  expect([problem.type, problem.title, problem.status]).toEqual([type, expected.title, status])
  if (isJobCreate(asked)) expect(problem.instance).toMatch(/^[0-9A-Z]{10}$/)
  else expect(problem.instance).toBe(`${base}/i/${headers['x-request-id']}`)
  if (typeof detail === 'string') expect(problem.detail).toBe(detail)
  else if (detail) expect(problem.detail).toMatch(detail)
}

/** A problem of the metadata service has a code; what is wrong with members stands only in those of bodies. */
function imdsProblemIn(answer: Answer, slug: string): Problem {
  const { code, errors, ...problem } = imdsProblemSchema.strict().parse(jsonOf(answer))
  expect(code).toBe(slug)
  if (answer.status !== 400) expect(errors).toEqual({})
  return problem
}
