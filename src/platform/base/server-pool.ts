import { DEFAULT_SCHEMA, type PgPool } from 'bullmq'
import type { Log } from '../../common/log.ts'

/** Where a PostgreSQL server is. */
export interface DatabaseServer {
  readonly url: string
  readonly log: Log
  /** The most connections at a time. */
  readonly connections: number
}

/** Of one that is idle; and of the wait for one, which ends before requests do (platform reference, section 26). */
const KEEP_ALIVE_MS = 10_000
const CONNECT_MS = 20_000

/**
 * Connections to a PostgreSQL server, made when they are needed: one that is lost fails what was asked of it, and the next
 * question makes another.
 */
export async function openServerPool({ url, log, connections }: DatabaseServer) {
  const { default: pg } = await import('pg')
  pg.types.setTypeParser(pg.types.builtins.INT8, Number) // sizes of files, counted in bytes
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: CONNECT_MS,
    // Everything lies in BullMQ's schema: its own statements name none, so it must be the one that is searched.
    options: `-c search_path=${DEFAULT_SCHEMA}`,
  })
  pool.on('connect', (client) => client.on('error', () => undefined)) // whoever uses it hears of it by what was asked
  pool.on('error', (error) => log.warn({ reason: error.message }, 'a connection to PostgreSQL was lost'))
  return { pool: pool as unknown as PgPool, close: () => pool.end() }
}

/** What BullMQ may use of a pool: it listens to each that it is given and never stops, and what it would hear is heard above. */
export function poolForBull(pool: PgPool): PgPool {
  const quiet: PgPool = {
    connect: () => pool.connect(),
    query: (text, values) => pool.query(text, values),
    end: async () => undefined,
    on: () => quiet,
    removeAllListeners: () => quiet,
  }
  return quiet
}
