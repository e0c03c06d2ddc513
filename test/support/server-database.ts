import { hostname } from 'node:os'
import { afterAll, beforeAll } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import { type Database, openDatabase } from '../../src/platform/base/database.ts'
import { sharedFolder } from './folder.ts'
import type { PostgresServer } from './postgres.ts'
import { postgresMissing } from './postgres.ts'

/** The platform's database on a server, and where other processes find it. */
export interface ServerDatabase extends Database {
  readonly url: string
}

/** To be called while tests are declared: one for the file, where there is a server. */
export function serverDatabase(server: () => PostgresServer): () => ServerDatabase {
  const folder = sharedFolder()
  let opened: ServerDatabase | undefined
  beforeAll(async () => {
    if (postgresMissing() !== '') return
    const url = await server().database()
    const database = await openDatabase({
      ...{ url, folder: folder(), now: Date.now, log: silentLog },
      holder: { pid: process.pid, host: hostname(), started: performance.timeOrigin },
    })
    opened = { ...database, url }
  }, 60_000)
  afterAll(() => opened?.close())
  return () => {
    if (!opened) throw new Error('the database is opened before the tests')
    return opened
  }
}
