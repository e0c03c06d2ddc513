import { join } from 'node:path'
import { createPostgresBackend, DEFAULT_SCHEMA, type PgPool, runMigrations } from 'bullmq'
import type { Log } from '../../common/log.ts'
import { hasDatabase, openDatabase } from '../../common/postgres/database.ts'
import { FolderInUse, type Holder, lockFolder } from '../../common/postgres/folder-lock.ts'
import { createPool } from '../../common/postgres/pool.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { createBullParts } from './bull-parts.ts'
import { type Base, createBullQueue } from './bull-queue.ts'
import type { JobQueue } from './job-queue.ts'

/** PostgreSQL without its helpers neither reuses rows nor shortens its log unless it is told to. */
const CLEAN_MS = 300_000
/** Nobody else can have what is held here, so there is next to nothing to look for. */
const ALONE = { takeoverMs: 3_600_000, pollMs: 5000 }
/** Seconds after which a folder or a database may be free. */
const RETRY_S = 10
/** BullMQ's word for "whoever has it". */
const ANY_TOKEN = '0'

/** Where a server keeps its prompts when it shares them with no other. */
export interface Place {
  /** For the database and its lock. */
  readonly folder: string
  /** The module `database-thread`. */
  readonly entry: URL
  readonly holder: Holder
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
}

const databaseIn = (folder: string): string => join(folder, 'database')

/** Whether a queue was ever opened there. */
export const hasEmbeddedQueue = (folder: string): boolean => hasDatabase(databaseIn(folder))

/**
 * Prompts that wait on this machine's disk, where a process that is killed leaves them; ended ones are kept
 * `retentionMs`. Throws `not-ready` while another process has the folder.
 */
export async function openEmbeddedQueue(place: Place, retentionMs: number): Promise<JobQueue> {
  try {
    const base = await openEmbeddedBase(place)
    try {
      await freeHeld(base)
      return createBullQueue(base, { ...ALONE, retentionMs, log: place.log })
    } catch (error) {
      await base.close()
      throw error
    }
  } catch (cause) {
    if (cause instanceof FolderInUse)
      throw new WorkloadError('not-ready', `${cause.message}; give each server a DATA_DIR of its own`, {
        retryAfter: RETRY_S,
        cause,
      })
    throw new WorkloadError('not-ready', 'the queue of prompts cannot be opened', { retryAfter: RETRY_S, cause })
  }
}

/** The database alone. Several queues over it are like several servers. */
export async function openEmbeddedBase({ folder, entry, holder, now, log }: Place): Promise<Base<PgPool>> {
  const unlock = await lockFolder(join(folder, 'lock'), holder, now)
  try {
    const database = await openDatabase(databaseIn(folder), entry)
    const connection = createPool(database)
    const client = await connection.connect()
    await runMigrations(client, DEFAULT_SCHEMA)
    client.release()
    const clean = async (): Promise<void> => {
      await database.query('VACUUM')
      await database.query('CHECKPOINT')
    }
    const cleaning = setInterval(() => {
      clean().catch((error: unknown) => log.warn({ reason: messageOf(error) }, "the queue's database was not cleaned"))
    }, CLEAN_MS)
    return {
      create: createPostgresBackend,
      connection,
      ready: async () => undefined,
      isReady: true,
      patienceMs: undefined,
      async close() {
        clearInterval(cleaning)
        await database.close()
        await unlock()
      },
    }
  } catch (error) {
    await unlock()
    throw error
  }
}

/** What is held was held by a process that is gone, for the lock of the folder is ours: it need not wait any longer. */
async function freeHeld(base: Base<PgPool>): Promise<void> {
  const { queue, worker } = createBullParts(base, ALONE.takeoverMs)
  // Each goes to the very front, so the oldest goes last.
  for (const id of await queue.getRanges(['active'], 0, -1, false))
    await queue.getBackend().moveJobFromActiveToWait(id, ANY_TOKEN)
  await worker.close(true)
  await queue.close()
}
