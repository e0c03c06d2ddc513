import { hostname } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { openDatabase } from '../../../src/platform/base/database.ts'
import { emptyFolder } from '../../support/folder.ts'
import { anyEntry, anyLogQuery } from '../../support/log-queries.ts'

import { addTenant } from '../../support/platform-database.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { foundLogs, writeLogs } from '../../support/written-logs.ts'

const server = sharedPostgres()
const missing = postgresMissing()

it.skipIf(missing !== '')(`a log query finds the same on a server ${missing}`, async () => {
  const { db, close } = await openDatabase({
    ...{ url: await server().database(), log: silentLog, now: Date.now },
    ...{ folder: join(await emptyFolder(), 'data'), holder: { pid: process.pid, host: hostname(), started: 0 } },
  })
  onTestFinished(close)
  const acme = await addTenant(db, 'acme')
  await fc.assert(
    fc.asyncProperty(fc.array(anyEntry, { minLength: 20, maxLength: 40 }), anyLogQuery, async (entries, query) => {
      await writeLogs(db, acme, entries)
      const meant = entries.flatMap((entry, i) => (query.matches(entry) ? i : []))
      expect(await foundLogs(db, acme, query.text)).toEqual(meant)
    }),
    { numRuns: 500 },
  )
})
