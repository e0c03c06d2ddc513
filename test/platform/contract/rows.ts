import { expect } from 'vitest'
import { BASE_URL } from '../../support/management.ts'
import { checkRefusal, checkSuccess } from './answers.ts'
import type { Answer } from './ask.ts'
import { type Bench, jsonOf } from './bench.ts'
import { names } from './body-faults.ts'
import { at, joined, withMember } from './members.ts'
import type { Asked, Bound, Fault, Operation } from './operation.ts'
import { requestFor, withHeaders, withQuery } from './requests.ts'

/** A sentence of the contract about one operation, and how it is tried. */
export interface Row {
  readonly name: string
  readonly run: (bench: Bench) => Promise<unknown>
  /** Whether it is tried only where time does not matter. */
  readonly isRare?: boolean
}

/** Longest value in the name of a row. */
const SHOWN = 40

/** All that the contract says of an operation with these faults, among them its own. */
export const rowsOf = (operation: Operation, faults: readonly Fault[]): readonly Row[] => [
  ...successRows(operation),
  ...(operation.paged ? pageRows(operation) : []),
  ...(operation.bounds
    ? [...extremeRows(operation), ...operation.bounds.flatMap((one) => boundRows(operation, one))]
    : []),
  ...faults.map((fault) => refusalRow(operation, fault)),
  ...orderRows(operation, faults),
]

/** Asks with nothing wrong in it but what `change` puts there. */
async function succeed(operation: Operation, bench: Bench, change: Change = same): Promise<Answer> {
  const { given = nothing, method, status, after, settled } = operation
  const kept = operation.kept ?? (method === 'GET' ? given : undefined)
  const params = kept ? await bench.standing(kept) : await given(bench, bench.acme)
  await settled?.(bench, params)
  const asked = await change(requestFor(operation, bench, params), bench)
  const answer = await bench.send(asked)
  checkSuccess(answer, operation)
  if (status === 201) await checkLocation(answer, asked, bench)
  await after?.(answer, asked, bench)
  return answer
}

type Change = (asked: Asked, bench: Bench) => Asked | Promise<Asked>
const same: Change = (asked) => asked
const nothing = async () => ({})

/** What was made is where the answer says. */
async function checkLocation({ headers, bytes }: Answer, asked: Asked, bench: Bench): Promise<void> {
  const { location = '' } = headers
  const path = asked.path.replace(/:(\w+)/g, (_all, name: string) => asked.params[name] ?? '')
  const { id, name } = JSON.parse(String(bytes)) as { readonly id: string; readonly name?: string }
  expect(location).toBe(`${BASE_URL}${path}/${name ?? id}`)
  const { announced: _announced, body: _body, ...rest } = asked
  const found = await bench.send({ ...rest, method: 'GET', path: location.slice(BASE_URL.length), query: '' })
  expect([found.status, at(jsonOf(found), 'id')]).toEqual([200, id])
}

function successRows(operation: Operation): readonly Row[] {
  const { method, body, type, optional = [], closed = false, status, variants = [] } = operation
  const row = (name: string, change?: Change): Row => ({
    name,
    run: (bench) => succeed(operation, bench, change),
  })
  const rows = [row(`is answered with ${status}`)]
  if (method === 'GET')
    rows.push({
      name: 'tells its headers alone',
      async run(bench) {
        const params = await bench.standing(operation.given ?? nothing)
        const asked = requestFor(operation, bench, params)
        const whole = await bench.send(asked)
        const head = await bench.send({ ...asked, method: 'HEAD' })
        expect(head.bytes).toHaveLength(0)
        for (const name of ['content-type', 'etag', 'cache-control'])
          expect(head.headers[name], name).toBe(whole.headers[name])
      },
    })
  if (body && type === undefined) {
    const upper = (asked: Asked) => `${asked.headers['content-type']?.toString().toUpperCase()}; charset=utf-8`
    rows.push(row('takes a character set', (asked) => withHeaders(asked, { 'content-type': upper(asked) })))
    const unheardOf = (asked: Asked) => ({ ...asked, body: withMember(asked.body, 'unheard_of', { of: [null] }) })
    if (!closed) rows.push(row('ignores a member that nobody knows', unheardOf))
  } else if (!body && method !== 'GET')
    rows.push(
      row('ignores a body', (asked) =>
        withHeaders({ ...asked, body: Buffer.from('no') }, { 'content-type': 'text/plain' }),
      ),
    )
  rows.push(row('ignores a parameter that nobody knows', (asked) => withQuery(asked, 'unheard_of=1&unheard_of=2')))
  const nulls = (asked: Asked, members: readonly string[]) => ({
    ...asked,
    body: members.reduce((body, member) => withMember(body, member, null), asked.body),
  })
  if (optional.length > 0) rows.push(row('takes null as all that is optional', (asked) => nulls(asked, optional)))
  for (const member of optional)
    rows.push({ ...row(`takes null as ${member}`, (asked) => nulls(asked, [member])), isRare: true })
  for (const { what, put, after } of variants)
    rows.push({
      name: `takes ${what}`,
      run: (bench) => succeed({ ...operation, ...(after && { after }) }, bench, put),
    })
  return rows
}

function pageRows(operation: Operation): readonly Row[] {
  const page = (query: string, check: (items: readonly unknown[]) => void): Row => ({
    name: `takes ?${query}`,
    async run(bench) {
      const answer = await succeed(operation, bench, (asked) => withQuery(asked, query))
      const { items, ...rest } = jsonOf(answer) as { readonly items: readonly unknown[]; readonly page?: number }
      check(items)
      const asked = new URLSearchParams(query)
      const told = { page: Number(asked.get('page') ?? 1), page_size: Number(asked.get('page_size') ?? 100) }
      if (rest.page !== undefined) expect(rest).toMatchObject(told)
    },
  })
  return [
    page('page=1&page_size=1', (items) => expect(items).toHaveLength(1)),
    page('page_size=100', (items) => {
      const keys = items.map((item) => at(item, 'create_time') ?? at(item, 'name')) as readonly string[]
      const isNewestFirst = at(items[0], 'create_time') !== undefined
      expect(keys).toEqual(isNewestFirst ? [...keys].sort().reverse() : [...keys].sort())
    }),
    page('page=2147483647', (items) => expect(items).toEqual([])),
  ]
}

/** The least of everything in one body, and the most of everything in another. */
function extremeRows(operation: Operation): readonly Row[] {
  const bounds = (operation.bounds ?? []).filter(
    ({ within, isRare, accepted }) => !within && !isRare && accepted.length > 0,
  )
  const row = (name: string, end: 0 | -1): Row => ({
    name,
    async run(bench) {
      let body: unknown
      const answer = await succeed(operation, bench, (asked) => {
        body = bounds.reduce((whole, { member, accepted }) => withMember(whole, member, accepted.at(end)), asked.body)
        return { ...asked, body }
      })
      if (operation.answer) for (const { member } of bounds) checkStored(answer, member, at(body, member))
    },
  })
  return bounds.length < 2 ? [] : [row('takes the least of everything', 0), row('takes the most of everything', -1)]
}

/** What was given is answered, but for secrets; objects are merged with what was there. */
function checkStored(answer: Answer, member: string, value: unknown): void {
  const stored = at(jsonOf(answer), member)
  if (stored !== undefined && (typeof value !== 'object' || Array.isArray(value))) expect(stored, member).toEqual(value)
}

function boundRows(operation: Operation, bound: Bound): readonly Row[] {
  const { member, accepted, refused, wrong = [], within, isRare = false } = bound
  const isMany = (operation.bounds?.length ?? 0) > 1 // what they take is then tried for all of them at once
  const put = (asked: Asked, value: unknown): Asked => ({
    ...asked,
    body: withMember(within ? joined(asked.body, within) : asked.body, member, value),
  })
  const refusal = (value: unknown): Row =>
    refusalRow(operation, {
      ...{ what: `${shown(value)} as ${member}`, kind: 'validation', status: 400, detail: names(member) },
      ...(operation.surface === 'imds' && { slug: 'invalid-request' }),
      put: (asked) => put(asked, value),
    })
  return [
    ...accepted.map((value) => ({
      isRare: isRare || (!within && isMany),
      name: `takes ${shown(value)} as ${member}`,
      async run(bench: Bench) {
        const answer = await succeed(operation, bench, (asked) => put(asked, value))
        if (operation.answer) checkStored(answer, member, value)
      },
    })),
    ...refused.map((value) => ({ ...refusal(value), isRare })),
    ...wrong.map((value) => ({ ...refusal(value), isRare: true })),
  ]
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length})`
}

/** Nothing is changed, so requests with faults share what their path names. */
async function refusable(operation: Operation, bench: Bench): Promise<Asked> {
  return requestFor(operation, bench, await bench.standing(operation.given ?? nothing))
}

const refusalRow = (operation: Operation, fault: Fault): Row => ({
  name: `refuses ${fault.what} with ${fault.status}`,
  async run(bench) {
    const asked = await fault.put(await refusable(operation, bench), bench)
    checkRefusal(await bench.send(asked), asked, fault)
  },
})

/** Of two faults the one is told whose check comes first. */
function orderRows(operation: Operation, faults: readonly Fault[]): readonly Row[] {
  const first = new Map<number, Fault>()
  for (const fault of faults) if (fault.order !== undefined && !first.has(fault.order)) first.set(fault.order, fault)
  const inOrder = [...first].sort(([one], [other]) => one - other).map(([, fault]) => fault)
  return inOrder.flatMap((one, i) =>
    inOrder
      .slice(i + 1)
      .filter(({ kind }) => kind !== one.kind)
      .map((other, distance) => ({
        isRare: distance > 0, // that of neighbours is that of all
        name: `tells of ${one.what} before ${other.what}`,
        async run(bench: Bench) {
          const asked = await one.put(await other.put(await refusable(operation, bench), bench), bench)
          checkRefusal(await bench.send(asked), asked, one)
        },
      })),
  )
}
