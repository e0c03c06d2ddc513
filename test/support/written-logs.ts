import { stringifyExact } from '../../src/common/json.ts'
import type { Db } from '../../src/platform/base/database.ts'
import { findLogEntries } from '../../src/platform/management/find-log-entries.ts'
import { parseLogQuery } from '../../src/platform/management/parse-log-query.ts'
import type { PlainEntry } from './log-queries.ts'
import type { Tenant } from './platform-database.ts'

/** When the first entry was written; each of the others came a second later. */
const START = Date.parse('2025-01-01T00:00:00Z')

/** Leaves these entries and no others. */
export async function writeLogs(db: Db, { organization }: Tenant, entries: readonly PlainEntry[]): Promise<void> {
  await db.deleteFrom('log_entries').execute()
  const rows = entries.map(({ labels, text_log, json_log, ...entry }, i) => ({
    ...entry,
    organization_id: organization.id,
    time: new Date(START + i * 1000),
    receive_time: new Date(START),
    labels: JSON.stringify(labels),
    text_log: text_log ?? null,
    json_log: json_log ? stringifyExact(json_log) : null,
  }))
  await db.insertInto('log_entries').values(rows).execute()
}

/** Which of the entries a query finds, by their places. */
export async function foundLogs(db: Db, { organization }: Tenant, query: string): Promise<readonly number[]> {
  const question = {
    ...{ organizationId: organization.id, start: new Date(START), end: new Date(START + 86_400_000) },
    ...({ filter: parseLogQuery(query), order: 'asc', limit: 1000 } as const),
  }
  const entries = await findLogEntries(db, question, () => true)
  return entries.map(({ time }) => (time.getTime() - START) / 1000)
}
