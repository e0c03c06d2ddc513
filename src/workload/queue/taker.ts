import { randomUUID } from 'node:crypto'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { BullHolds } from './bull-holds.ts'
import type { BullWorker } from './bull-parts.ts'
import type { HeldEntry, JobQueue } from './job-queue.ts'
import type { WaitingCount } from './waiting-count.ts'

/** Takes entries while there is room and hands them on. */
export interface Taker {
  readonly work: JobQueue['work']
  /** Takes what there is and what there is room for. Returns at once; several calls are one. */
  look(): void
  /** Takes no more; resolves when nothing is on its way from the database. */
  stop(): Promise<void>
  /** Resolves when everything that was handed on is done. */
  done(): Promise<void>
}

export function createTaker(worker: BullWorker, holds: BullHolds, waiting: WaitingCount, log: Log): Taker {
  const handling = new Map<string, Promise<void>>()
  let handle: Parameters<JobQueue['work']>[0] | undefined
  let hasRoom = (): boolean => false
  let stopped = false
  let looking: Promise<void> | undefined
  let again = false

  async function take(): Promise<HeldEntry | undefined> {
    const token = randomUUID()
    const since = performance.now()
    const job = await waiting.change(
      () => worker.getNextJob(token, { block: false }),
      (taken) => (taken ? -1 : 0),
    )
    return job && holds.take(job, token, since)
  }

  async function pass(held: HeldEntry): Promise<void> {
    // It was lost here, nobody else took it, and its former holder is still on the way out.
    const before = handling.get(held.id)
    if (before) await before
    await handle?.(held)
  }

  /** Calls `handle` before it returns, so that who is asked for room next has counted this one. */
  function hand(held: HeldEntry): void {
    const handled = pass(held)
      .catch((error: unknown) =>
        log.error({ reason: messageOf(error), id: held.id }, 'a prompt was dropped by its handler'),
      )
      .finally(() => {
        if (handling.get(held.id) === handled) handling.delete(held.id)
      })
    handling.set(held.id, handled)
  }

  async function takeAll(): Promise<void> {
    do {
      again = false
      while (!stopped && hasRoom()) {
        const held = await take()
        if (!held) break
        if (stopped) await held.giveBack()
        else hand(held)
      }
    } while (again)
  }

  function look(): void {
    again = true
    looking ??= takeAll()
      .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'nothing can be taken from the queue'))
      .finally(() => {
        looking = undefined
      })
  }

  return {
    work(newHandle, newHasRoom) {
      handle = newHandle
      hasRoom = newHasRoom
      look()
    },
    look,
    async stop() {
      stopped = true
      await looking
    },
    async done() {
      while (handling.size > 0) await Promise.all(handling.values())
    },
  }
}
