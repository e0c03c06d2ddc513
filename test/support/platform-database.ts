import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Database, type Db, openDatabase } from '../../src/platform/base/database.ts'
import { digestOf } from '../../src/platform/base/keys.ts'
import { migrations } from '../../src/platform/base/migrations.ts'
import { sharedFolder } from './folder.ts'
import { sharedPostgres } from './postgres.ts'
import { serverDatabase } from './server-database.ts'

/** Opens the platform's database in `folder`; the thread is the built one, for threads run no TypeScript. */
export const openPlatformDatabase = (folder: string): Promise<Database> =>
  openDatabase({
    folder,
    entry: new URL('../../dist/common/postgres/database-thread.js', import.meta.url),
    holder: { pid: process.pid, host: hostname(), started: performance.timeOrigin },
    now: Date.now,
  })

/** Puts a new database into `folder`: a copy, for making one takes seconds. */
export async function platformFolderIn(folder: string): Promise<void> {
  const version = createHash('sha256').update(migrations.join()).digest('hex').slice(0, 12)
  const template = resolve(`node_modules/.cache/platform-database-${version}`)
  if (!existsSync(template)) {
    const unfinished = `${template}.${process.pid}`
    const database = await openPlatformDatabase(unfinished)
    await database.close()
    await rename(unfinished, template).catch(() => rm(unfinished, { recursive: true })) // another test was faster
  }
  await cp(template, folder, { recursive: true })
}

/**
 * To be called while tests are declared: the platform's database, one for the file. It is on a PostgreSQL server where
 * `TEST_RECORDS` is `postgres`, which all tests that have no other must pass too.
 */
export function platformDatabase(): () => Database {
  return process.env.TEST_RECORDS === 'postgres' ? serverDatabase(sharedPostgres()) : embeddedDatabase()
}

function embeddedDatabase(): () => Database {
  const folder = sharedFolder()
  let opened: Database | undefined
  beforeAll(async () => {
    await platformFolderIn(folder())
    opened = await openPlatformDatabase(folder())
  }, 120_000)
  afterAll(() => opened?.close())
  return () => {
    if (!opened) throw new Error('the database is opened before the tests')
    return opened
  }
}

export interface Tenant {
  readonly organization: { readonly id: string; readonly name: string }
  readonly project: { readonly id: string; readonly name: string }
  readonly userId: string
  readonly key: string
}

/** An organization with a project, and a member with a key. Names must be new. */
export async function addTenant(db: Db, name: string): Promise<Tenant> {
  const organization = { id: randomUUID(), name }
  const project = { id: randomUUID(), name: 'demo' }
  const userId = randomUUID()
  const key = `key-of-${name}`
  const create_time = new Date()
  await db
    .insertInto('organizations')
    .values({ ...organization, create_time })
    .execute()
  await db
    .insertInto('projects')
    .values({ ...project, organization_id: organization.id, create_time })
    .execute()
  await db
    .insertInto('users')
    .values({ id: userId, name: `user-of-${name}`, key_digest: digestOf(key) })
    .execute()
  await db.insertInto('memberships').values({ user_id: userId, organization_id: organization.id }).execute()
  return { organization, project, userId, key }
}
