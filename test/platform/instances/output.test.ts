import { expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { appendOutput } from '../../../src/platform/instances/append-output.ts'

import { addTenant, platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()

/** Prints these lines, and returns what was kept of them. */
async function kept(organization: string, lines: readonly string[]) {
  const { db } = database()
  const tenant = await addTenant(db, organization)
  const output = appendOutput({ db, now: Date.now, log: silentLog }, tenant.organization.id, {})
  for (const line of lines) output.add(line)
  await output.flush()
  return db
    .selectFrom('log_entries')
    .select(['text_log', 'json_log', 'severity', 'resource_type'])
    .where('organization_id', '=', tenant.organization.id)
    .orderBy('id')
    .execute()
}

it('what an application prints is kept as JSON where a line is an object, and else as text', async () => {
  const rows = await kept('plain', ['ready', '', '{"level":"info"}', '[1]', '{', 'a\0b', 'x'.repeat(10_001)])
  expect(rows.map(({ text_log, json_log }) => text_log ?? json_log)).toEqual([
    'ready',
    { level: 'info' },
    '[1]',
    '{',
    'ab',
    'x'.repeat(10_000),
  ])
  expect(rows[0]).toMatchObject({ severity: 'default', resource_type: 'container' })
})

it('no line is lost because the database could not hold the JSON of another', async () => {
  const odd = [
    '{"nul":"\\u0000"}',
    '{"half":"\\ud800"}',
    '{"huge":1e999999}',
    `{"deep":${'['.repeat(4000)}${']'.repeat(4000)}}`,
    '{"__proto__":1}',
  ]
  const rows = await kept('odd', ['before', ...odd, 'after'])
  expect(rows.map(({ text_log }) => text_log)).toEqual(['before', ...odd, 'after'])
})

it('an application may print more at once than one statement takes', async () => {
  expect(await kept('much', Array(9000).fill('line'))).toHaveLength(9000)
})
