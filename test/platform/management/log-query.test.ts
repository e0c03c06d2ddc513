import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseLogQuery } from '../../../src/platform/management/parse-log-query.ts'
import { anyEntry, anyLogQuery, type PlainEntry } from '../../support/log-queries.ts'
import { addTenant, platformDatabase, type Tenant } from '../../support/platform-database.ts'
import { foundLogs, writeLogs } from '../../support/written-logs.ts'

const database = platformDatabase()
let acme: Tenant

beforeAll(async () => {
  acme = await addTenant(database().db, 'acme')
})

const write = (entries: readonly PlainEntry[]) => writeLogs(database().db, acme, entries)
const found = (query: string) => foundLogs(database().db, acme, query)

describe('a log query', () => {
  it('finds what it says, whatever it says', async () => {
    const entries = fc.sample(anyEntry, 80)
    await write(entries)
    await fc.assert(
      fc.asyncProperty(anyLogQuery, async ({ text, matches }) => {
        expect(await found(text)).toEqual(entries.flatMap((entry, i) => (matches(entry) ? i : [])))
      }),
      { numRuns: 100 },
    )
  })

  const container = { severity: 'default', resource_type: 'container', labels: {} } as const

  it.each([
    ['', [0, 1, 2, 3]],
    [' \n', [0, 1, 2, 3]],
    ['severity >= "warning"', [3]],
    ['severity =~ "WARNING"', [3]],
    ['severity contains "warn"', [3]],
    ['severity !startswith "d"', [3]],
    ['text_log contains~ "out of MEMORY"', [0]],
    ['text_log =~ "CUDA OUT OF MEMORY"', [0]],
    ['text_log !contains~ "memory"', [1, 2, 3]],
    ['text_log startswith "a \\"quoted\\" \\d"', [1]],
    ['json_log.status = 404', [2]],
    ['json_log.status >= 4.04e2 and json_log.status<405', [2]],
    ['json_log.status contains 40', [2]],
    ['json_log.error.code = "E1"', [2]],
    ['json_log."a.b".0 = "x"', [2]],
    ['json_log.long = 12345678901234567891', [2]],
    ['json_log.long = 12345678901234567890', []],
    ['json_log.none != 1', [0, 1, 2, 3]],
    ['json_log.none = 1 or not json_log.none = 1', [0, 1, 2, 3]],
    ['resource.labels.container_group_version > 9', [3]],
    ['resource.type="container"and(text_log="x"or json_log.ok="true")', [2]],
    ['text_log contains "CUDA" or text_log contains "a" and severity = "error"', [0]],
  ])('%j finds %j', async (query, places) => {
    await write([
      { ...container, text_log: 'CUDA out of memory' },
      { ...container, text_log: 'a "quoted" \\d' },
      {
        ...container,
        json_log: { status: 404, error: { code: 'E1' }, 'a.b': ['x'], ok: true, long: 12_345_678_901_234_567_891n },
      },
      { ...container, severity: 'warning', text_log: '', labels: { container_group_version: '10' } },
    ])
    expect(await found(query)).toEqual(places)
  })

  it('may be as long as there is room, and asks as many things as fit', async () => {
    await write([{ ...container, text_log: 'here' }])
    const longest = (part: string) =>
      Array(Math.floor(20_000 / (part.length + 4)))
        .fill(part)
        .join(' or ')
    expect(await found(longest('json_log.a=1'))).toEqual([])
    expect(await found(`json_log${'.a'.repeat(9990)} != 1`)).toEqual([0])
    expect(await found(`${'('.repeat(50)}text_log="here"${')'.repeat(50)}`)).toEqual([0])
  })

  it.each([
    ['sevrity = "error"', 1, '(, severity, text_log, json_log.NAME, resource.type or resource.labels.NAME'],
    ['severity', 9, 'an operator: =, !=, =~, !=~, >, <, >=, <=, contains, startswith or endswith'],
    ['severity == "error"', 11, 'a text between " or a number'],
    ['severity = "fatal"', 12, 'one of "default", "debug", "info"'],
    ['severity > 3', 12, 'one of "default"'],
    ['text_log = error', 12, 'a text between " or a number'],
    ['text_log = "error', 12, 'a text that ends with "'],
    ['text_log >~ "a"', 11, 'a text between " or a number'],
    ['text_log !> "a"', 10, 'an operator'],
    ['text_log includes "a"', 10, 'an operator'],
    ['json_log = 1', 10, '. and a name'],
    ['json_log. = 1', 11, 'a name'],
    ['resource = "a"', 10, '.type or .labels.NAME'],
    ['resource.name = "a"', 10, 'type or labels.NAME'],
    ['resource. = "a"', 11, 'type or labels.NAME'],
    ['resource.labels = "a"', 17, '. and a name'],
    ['text_log = 1.', 12, 'a text between " or a number'],
    [`text_log = ${'9'.repeat(256)}`, 12, 'a text between " or a number'],
    ['text_log = 1 text_log = 2', 14, 'and, or or the end'],
    ['text_log = 1 and', 17, '(, severity'],
    ['not not text_log = 1', 5, '(, severity'],
    ['(text_log = 1', 14, 'and, or or )'],
    ['text_log = 1)', 13, 'and, or or the end'],
    [`${'('.repeat(51)}text_log=1`, 51, 'no more than 50 parentheses in each other'],
  ])('%s is refused at character %i', (query, place, expected) => {
    expect(() => parseLogQuery(query)).toThrow(`query: at character ${place}: expected ${expected}`)
  })

  it('is refused with what was found there', () => {
    expect(() => parseLogQuery('text_log')).toThrow('but the query ends there')
    expect(() => parseLogQuery(`severity ${'x'.repeat(100)}`)).toThrow(`but found "${'x'.repeat(30)}…"`)
  })
})
