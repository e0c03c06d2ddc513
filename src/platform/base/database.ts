import { join } from 'node:path'
import { DEFAULT_SCHEMA, type PgPool } from 'bullmq'
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely'
import { openDatabase as openEmbedded } from '../../common/postgres/database.ts'
import { type Holder, lockFolder } from '../../common/postgres/folder-lock.ts'
import { createPool } from '../../common/postgres/pool.ts'
import { migrations } from './migrations.ts'
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
export type DatabasePlace = { readonly url: string } | EmbeddedPlace

export interface EmbeddedPlace {
  /** Of this process alone. */
  readonly folder: string
  /** The module `database-thread` of `postgres`. */
  readonly entry: URL
  readonly holder: Holder
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Opens PostgreSQL, a server's or one in this process, and brings it up to date. Throws `FolderInUse`. */
export async function openDatabase(place: DatabasePlace): Promise<Database> {
  const { pool, close } = 'url' in place ? await server(place.url) : await embedded(place)
  // Kysely asks a pool for no more than this one has; its type is that of `pg`.
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as unknown as PostgresPool }) })
  await migrate(db)
  return { db, pool, close }
}

async function server(url: string) {
  const { default: pg } = await import('pg')
  pg.types.setTypeParser(pg.types.builtins.INT8, Number) // sizes of files, counted in bytes
  const pool = new pg.Pool({ connectionString: url, max: 20, options: `-c search_path=${DEFAULT_SCHEMA}` })
  return { pool: pool as unknown as PgPool, close: () => pool.end() }
}

async function embedded({ folder, entry, holder, now }: EmbeddedPlace) {
  const unlock = await lockFolder(join(folder, 'lock'), holder, now)
  const database = await openEmbedded(join(folder, 'database'), entry)
  const close = async () => {
    await database.close()
    await unlock()
  }
  return { pool: createPool(database), close }
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
