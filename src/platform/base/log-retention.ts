import type { Log } from '../../common/log.ts'
import type { Db } from './database.ts'
import { messageOf } from './errors.ts'

const SWEEP_MS = 600_000
/** Entries that one statement removes: an embedded database answers nobody else meanwhile. */
const SLICE = 5000

export interface LogRetentionOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  /** How long log entries are kept, in milliseconds. */
  readonly retentionMs: number
  readonly log: Log
}

/** Makes the function that removes log entries that have had their time (section 25.2), and resolves with their number. */
export function createLogSweep({ db, now, retentionMs }: Omit<LogRetentionOptions, 'log'>): () => Promise<number> {
  return async () => {
    const organizations = await db.selectFrom('organizations').select('id').execute()
    const past = new Date(now() - retentionMs)
    let removed = 0
    for (const { id } of organizations) {
      let gone = 0
      do {
        const slice = db
          .selectFrom('log_entries')
          .select('id')
          .where('organization_id', '=', id)
          .where('time', '<', past)
          .limit(SLICE)
        const { numDeletedRows } = await db.deleteFrom('log_entries').where('id', 'in', slice).executeTakeFirstOrThrow()
        gone = Number(numDeletedRows)
        removed += gone
      } while (gone === SLICE)
    }
    return removed
  }
}

/** Removes old log entries every ten minutes until it is closed. */
export function keepLogsShort(options: LogRetentionOptions): { close(): void } {
  const { log } = options
  const sweep = createLogSweep(options)
  const run = async (): Promise<void> => {
    const entries = await sweep()
    if (entries > 0) log.info({ entries }, 'old log entries were removed')
  }
  const sweeping = setInterval(() => {
    run().catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'old log entries were not removed'))
  }, SWEEP_MS)
  return { close: () => clearInterval(sweeping) }
}
