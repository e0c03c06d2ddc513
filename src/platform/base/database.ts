import { join } from 'node:path'
import { DEFAULT_SCHEMA, type PgPool } from 'bullmq'
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely'
import type { Log } from '../../common/log.ts'
import { openDatabase as openEmbedded } from '../../common/postgres/database.ts'
import { type Holder, lockFolder } from '../../common/postgres/folder-lock.ts'
import { createPool } from '../../common/postgres/pool.ts'
import { migrations } from './migrations.ts'
import { type DatabaseServer, openServerPool } from './server-pool.ts'
import type { Tables } from './tables.ts'

/** The platform's records, and BullMQ's jobs where there is no Redis. */
export type Db = Kysely<Tables>

export interface Database {
  readonly db: Db
  /** The same connections for BullMQ's own backend, whose tables lie beside ours in one schema. */
  readonly pool: PgPool
  close(): Promise<void>
}

/** Where the records are. */
export type DatabasePlace = Ground & ({ readonly url: string; readonly log: Log } | { readonly entry: URL })

interface Ground {
  /** Of this process alone: what it starts is noted there, also where the records are on a server. */
  readonly folder: string
  readonly holder: Holder
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Of the platform, and of a process that does one job at a time. */
const PLATFORM_CONNECTIONS = 20
const WORKER_CONNECTIONS = 3

/**
 * Opens PostgreSQL, a server's (`url`) or one in this process (`entry` is the module `database-thread`), and brings it up to
 * date. Throws `FolderInUse`.
 */
export async function openDatabase(place: DatabasePlace): Promise<Database> {
  const unlock = await lockFolder(join(place.folder, 'lock'), place.holder, place.now)
  const { pool, close } =
    'url' in place
      ? await openServerPool({ ...place, connections: PLATFORM_CONNECTIONS })
      : await embedded(place.folder, place.entry)
  const db = over(pool)
  const end = async () => {
    await close()
    await unlock()
  }
  try {
    await migrate(db)
  } catch (error) {
    await end()
    throw error
  }
  return { db, pool, close: end }
}

/** The records on a server for a process beside the platform, which has brought them up to date. Connects when it is first asked. */
export async function joinDatabase(server: Omit<DatabaseServer, 'connections'>): Promise<Database> {
  const { pool, close } = await openServerPool({ ...server, connections: WORKER_CONNECTIONS })
  return { db: over(pool), pool, close }
}

/** Kysely asks a pool for no more than this one has; its type is that of `pg`. */
const over = (pool: PgPool): Db =>
  new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) })

async function embedded(folder: string, entry: URL) {
  const database = await openEmbedded(join(folder, 'database'), entry)
  return { pool: createPool(database), close: () => database.close() }
}

/** Runs what the database has not seen yet; of several processes that start at once, one does it. */
async function migrate(db: Db): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(7301)`.execute(transaction)
    // Everything lies in BullMQ's schema: its own statements name none, so it must be the one that is searched.
    await sql`create schema if not exists ${sql.id(DEFAULT_SCHEMA)}`.execute(transaction)
    await sql`create table if not exists migrations (number integer primary key)`.execute(transaction)
    const { rows } = await sql<{ number: number }>`select number from migrations`.execute(transaction)
    const done = new Set(rows.map(({ number }) => number))
    for (const [number, statements] of migrations.entries()) {
      if (done.has(number)) continue
      // One at a time, as prepared statements are; none of ours has a semicolon within.
      for (const statement of statements.split(';'))
        if (statement.trim() !== '') await sql.raw(statement).execute(transaction)
      await sql`insert into migrations values (${number})`.execute(transaction)
    }
  })
}
