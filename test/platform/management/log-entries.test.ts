import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { logPageSchema } from '../../../src/contracts/platform/log-entry.ts'
import { createLogSweep } from '../../../src/platform/base/log-retention.ts'
import { createLogEntriesRoutes } from '../../../src/platform/management/log-entries-routes.ts'
import { problemIn, serveManagement } from '../../support/management.ts'
import { platformDatabase, type Tenant } from '../../support/platform-database.ts'
import { twoTenants } from '../../support/tenants.ts'

const database = platformDatabase()
const tenants = twoTenants(database)
beforeEach(async () => {
  await database().db.deleteFrom('log_entries').execute()
})

/** The minute of the first of January 2025 in which an entry was written. */
const minute = (i: number): Date => new Date(Date.UTC(2025, 0, 1, 0, i))

/** Writes an entry in each of the first minutes of the year. */
const write = async (texts: readonly string[], { organization }: Tenant = tenants.acme): Promise<void> => {
  const rows = texts.map((text, i) => ({
    organization_id: organization.id,
    time: minute(i),
    receive_time: new Date(minute(i).getTime() + 120),
    severity: 'default',
    resource_type: 'container',
    labels: JSON.stringify({ project_name: 'demo' }),
    ...(text.startsWith('{') ? { json_log: text } : { text_log: text }),
  }))
  await database().db.insertInto('log_entries').values(rows).execute()
}

const day = { start_time: '2025-01-01T00:00:00Z', end_time: '2025-01-02T00:00:00Z', query: '' }

async function member() {
  const { db } = database()
  const ask = await serveManagement({ db, routes: { organization: [createLogEntriesRoutes(db)] } })
  const send = (body: unknown) =>
    ask('POST /organizations/acme/log-entries', {
      headers: { 'service-api-key': tenants.acme.key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return {
    send,
    async page(more: object = {}) {
      const response = await send({ ...day, ...more })
      const text = await response.text()
      expect([response.status, response.headers.get('content-type')], text).toEqual([200, 'application/json'])
      const page = logPageSchema.parse(JSON.parse(text))
      return { ...page, text, texts: page.items.map(({ text_log }) => text_log) }
    },
  }
}

describe('log entries', () => {
  it('are answered newest first, with all that is known of them', async () => {
    await write(['one', '{"level":"warn","id":12345678901234567891}'])
    const { page } = await member()
    const { text, texts: _texts, ...body } = await page()
    expect(body).toMatchObject({
      items: [
        { json_log: { level: 'warn' } },
        {
          time: '2025-01-01T00:00:00.000Z',
          receive_time: '2025-01-01T00:00:00.120Z',
          severity: 'default',
          resource: { type: 'container', labels: { project_name: 'demo' } },
          text_log: 'one',
        },
      ],
      organization_name: 'acme',
      page_min_time: '2025-01-01T00:00:00.000Z',
      page_max_time: '2025-01-01T00:01:00.000Z',
    })
    expect(text).toMatch(/"json_log":\{.*"id": ?12345678901234567891\b/)
  })

  it('are those of the organization, of the time asked for and of the query', async () => {
    await write(['zero', 'one', 'two', 'three'])
    await write(['one of another'], tenants.other)
    const { page } = await member()
    const within = { start_time: '2025-01-01T01:01:00+01:00', end_time: '2025-01-01T00:03:00.000Z' }
    expect((await page(within)).texts).toEqual(['two', 'one'])
    expect((await page({ ...within, sort_order: 'asc', query: 'text_log contains "o"' })).texts).toEqual(['one', 'two'])
    expect((await page({ query: 'text_log contains "other"' })).texts).toEqual([])
  })

  it.each(['desc', 'asc'] as const)('are read to the end page by page, %s', async (sort_order) => {
    const all = Array.from({ length: 7 }, (_, i) => `line ${i}`)
    await write(all)
    const { page } = await member()
    const seen: (string | undefined)[] = []
    for (let more: object = { start_time: '2024-12-31T00:00:00Z' }; ; ) {
      const { texts, page_min_time, page_max_time } = await page({ page_size: 3, sort_order, ...more })
      if (texts.length === 0) break
      seen.push(...texts)
      const behind = new Date(Date.parse(page_max_time) + 1).toISOString()
      more = sort_order === 'desc' ? { ...more, end_time: page_min_time } : { start_time: behind }
    }
    expect(seen).toEqual(sort_order === 'asc' ? all : all.toReversed())
  })

  it('name the time asked for when there are none', async () => {
    const { page } = await member()
    expect(await page({ page_size: null, sort_order: null })).toMatchObject({
      items: [],
      page_min_time: '2025-01-01T00:00:00.000Z',
      page_max_time: '2025-01-02T00:00:00.000Z',
    })
  })

  it('are found among very many others, also where many were written at one moment', async () => {
    const { db } = database()
    await write(['needle'])
    await sql`
      insert into log_entries (organization_id, time, receive_time, severity, resource_type, labels, text_log)
      select ${tenants.acme.organization.id}, ${minute(1)}::timestamptz + (i / 5000) * interval '1 minute', now(), 'default',
        'container', '{}', 'hay' from generate_series(1, 12000) i`.execute(db)
    const { page } = await member()
    for (const sort_order of ['desc', 'asc'])
      expect((await page({ sort_order, query: 'text_log != "hay"' })).texts).toEqual(['needle'])
    expect((await page()).texts).toEqual(Array(100).fill('hay'))
  })

  it.each([
    [{}, 'start_time: is required; end_time: is required; query: is required'],
    [{ ...day, start_time: 'yesterday' }, 'start_time: must be a date-time such as 2025-01-01T00:00:00Z'],
    [{ ...day, start_time: '0000-01-01T00:00:00Z' }, 'start_time: must be a date-time such as 2025-01-01T00:00:00Z'],
    [{ ...day, end_time: '9999-12-31T23:59:59-10:00' }, 'end_time: must be a date-time such as 2025-01-01T00:00:00Z'],
    [{ ...day, end_time: day.start_time }, 'end_time: must be after start_time'],
    [{ ...day, query: ' '.repeat(20_001) }, 'query: must be a text of 0 to 20000 characters'],
    [{ ...day, page_size: 101 }, 'page_size: must be an integer from 1 to 100'],
    [{ ...day, page_size: 0 }, 'page_size: must be an integer from 1 to 100'],
    [{ ...day, sort_order: 'up' }, 'sort_order: must be one of desc, asc'],
    [
      { ...day, query: 'severity = "fatal"' },
      'query: at character 12: expected one of "default", "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", but found "\\"fatal\\""',
    ],
  ])('are refused for %j', async (body, detail) => {
    expect(await problemIn(await (await member()).send(body))).toMatchObject({ status: 400, detail })
  })

  it('are removed when they have had their time, however many there are', async () => {
    const { db } = database()
    await write(['old', 'new'])
    await write(['old too'], tenants.other)
    await sql`
      insert into log_entries (organization_id, time, receive_time, severity, resource_type, labels, text_log)
      select ${tenants.acme.organization.id}, ${minute(0)}, now(), 'default', 'container', '{}', '' from generate_series(1, 12000)
      `.execute(db)
    const retentionMs = 90 * 86_400_000
    const now = () => minute(1).getTime() + retentionMs
    expect(await createLogSweep({ db, now, retentionMs })()).toBe(12_002)
    expect((await (await member()).page()).texts).toEqual(['new'])
  })
})
