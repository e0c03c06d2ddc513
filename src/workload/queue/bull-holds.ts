import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { BullQueue } from './bull-parts.ts'
import { type Hold, holdOf } from './hold.ts'
import { type HeldEntry, HoldLost } from './job-queue.ts'
import { type EntryJob, entryOf, givenBackOf, type StoredProgress } from './stored-entry.ts'

/** Between attempts to reach a database that is away. */
const RETRY_MS = 100

/** What this server holds of a shared queue. */
export interface BullHolds {
  /** From a job that was taken at `since`, by `performance.now()`, under `token`. */
  take(job: EntryJob, token: string, since: number): HeldEntry
  /** Ids of entries that are held, not yet ended, given back or lost. */
  readonly ids: readonly string[]
  stop(id: string): void
  /** Tells the database that this server lives. Rejects when it cannot be reached. */
  extend(): Promise<void>
  loseAll(): void
}

/**
 * A lock that was extended is ours for `takeoverMs` from when we asked: whatever happens to the connection, a hold is
 * given up then, and no other server has the entry before.
 */
export function createBullHolds(queue: BullQueue, takeoverMs: number, log: Log): BullHolds {
  interface Kept {
    readonly hold: Hold
    readonly jobId: string
    readonly id: string
    /** By `performance.now()`. */
    sureUntil: number
    timer: NodeJS.Timeout | undefined
    /** Its end is being written: from some moment on its lock is gone, and not because another has it. */
    leaving: boolean
  }
  const holds = new Map<string, Kept>()
  const backend = queue.getBackend()

  const settle = (token: string): void => {
    clearTimeout(holds.get(token)?.timer)
    holds.delete(token)
  }
  const lose = (token: string): void => {
    holds.get(token)?.hold.lose()
    settle(token)
  }
  const extended = (token: string, asked: number): void => {
    const kept = holds.get(token)
    if (!kept) return
    kept.sureUntil = Math.max(kept.sureUntil, asked + takeoverMs)
    clearTimeout(kept.timer)
    kept.timer = setTimeout(() => {
      log.warn({ id: kept.id }, 'the queue was away for too long: another server may have this prompt')
      lose(token)
    }, kept.sureUntil - performance.now())
  }

  /** Until it is done, refused, or has failed for so long that another server had better try. */
  async function persist(token: string, work: () => Promise<void>): Promise<void> {
    for (const latest = performance.now() + takeoverMs; ; await pause(RETRY_MS)) {
      if (!holds.has(token)) throw new HoldLost('the queue was away for too long')
      try {
        return await work()
      } catch (error) {
        if (error instanceof HoldLost) throw error
        if (isRefusal(error) || performance.now() > latest) {
          settle(token)
          throw new HoldLost(messageOf(error), { cause: error })
        }
        log.debug({ reason: messageOf(error) }, 'the queue did not answer')
      }
    }
  }
  /** The same for what lets go of it. */
  async function leave(token: string, work: () => Promise<void>): Promise<void> {
    const kept = holds.get(token)
    await persist(token, async () => {
      if (kept) kept.leaving = true
      await work().finally(() => {
        if (kept) kept.leaving = false
      })
    })
    settle(token)
  }
  const assure = async (jobId: string, token: string): Promise<void> => {
    const asked = performance.now()
    if ((await backend.extendLock(jobId, token, takeoverMs)) !== 1) {
      settle(token)
      throw new HoldLost('another server has this prompt now')
    }
    extended(token, asked)
  }

  return {
    take(job, token, since) {
      const jobId = job.id as string // a stored job has one
      let entry = entryOf(job, 'held')
      const write = async (progress: StoredProgress): Promise<void> => {
        await assure(jobId, token)
        await backend.updateProgress(jobId, { ...progress })
      }
      const progress = (note: string | undefined, givenBack: number): StoredProgress =>
        note === undefined ? { givenBack } : { note, givenBack }
      const hold = holdOf({
        async keep(note) {
          await persist(token, () => write(progress(note, givenBackOf(job))))
          entry = { ...entry, note }
        },
        async end(note, asked) {
          await leave(token, async () => {
            try {
              if (asked !== undefined) await job.updateData({ ...job.data, asked })
              const keep = job.opts.removeOnComplete ?? false
              await backend.moveToCompleted(job, { note, by: token }, keep, token, false)
            } catch (error) {
              if (!isRefusal(error) || !(await endedBy(queue, jobId, token))) throw error
            }
          })
        },
        async giveBack() {
          await leave(token, async () => {
            await write(progress(entry.note, givenBackOf(job) + 1))
            await backend.moveJobFromActiveToWait(jobId, token)
          })
        },
      })
      holds.set(token, { hold, jobId, id: entry.id, sureUntil: 0, timer: undefined, leaving: false })
      extended(token, since)
      if (entry.cancelled) hold.stop()
      return { ...entry, ...hold.hands }
    },
    get ids() {
      return [...holds.values()].map(({ id }) => id)
    },
    stop(id) {
      for (const { hold, id: held } of holds.values()) if (held === id) hold.stop()
    },
    async extend() {
      const tokens = [...holds].filter(([, { leaving }]) => !leaving).map(([token]) => token)
      if (tokens.length === 0) return
      const jobIds = tokens.map((token) => holds.get(token)?.jobId ?? '')
      const asked = performance.now()
      const refused = new Set(await backend.extendLocks(jobIds, tokens, takeoverMs))
      for (const [index, token] of tokens.entries())
        if (refused.has(jobIds[index] ?? '')) lose(token)
        else extended(token, asked)
    },
    loseAll() {
      for (const token of holds.keys()) lose(token)
    },
  }
}

/** BullMQ's refusals carry a negative number; everything else is a database that could not be asked. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code < 0

/** Whether an end that was refused had taken place before: its answer was lost on the way. */
async function endedBy(queue: BullQueue, jobId: string, token: string): Promise<boolean> {
  const job: EntryJob | undefined = await queue.getJob(jobId)
  return job?.finishedOn !== undefined && job.returnvalue.by === token
}
