import type { Log } from '../../common/log.ts'
import { unlessAborted } from '../base/abort.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { createBullHolds } from './bull-holds.ts'
import { type Backing, createBullParts } from './bull-parts.ts'
import { createEntryStore } from './entry-store.ts'
import type { JobQueue } from './job-queue.ts'
import { repeat } from './repeat.ts'
import { createTaker } from './taker.ts'
import { createWaitingCount } from './waiting-count.ts'

const TIDY_MS = 60_000

export interface BullQueueOptions {
  /** How long this server may be silent before another takes over what it holds. */
  readonly takeoverMs: number
  /** How long ended entries are kept. */
  readonly retentionMs: number
  /** How often to look for what other servers did: entries to take, and wishes to stop one that is held here. */
  readonly pollMs: number
  readonly log: Log
}

/** The database under a queue. */
export interface Base<Connection> extends Backing<Connection> {
  /** Resolves once it can be asked. */
  ready(signal: AbortSignal): Promise<void>
  readonly isReady: boolean
  /** How long callers wait for it before they are told to come back later; undefined: however long it takes. */
  readonly patienceMs: number | undefined
  close(): Promise<void>
}

/** Prompts that wait in BullMQ, whatever it keeps them in. */
export function createBullQueue<Connection>(base: Base<Connection>, options: BullQueueOptions): JobQueue {
  const { takeoverMs, retentionMs, pollMs, log } = options
  const { queue, worker } = createBullParts(base, takeoverMs)
  const report = (error: Error) => log.debug({ reason: messageOf(error) }, 'BullMQ reports an error')
  queue.on('error', report)
  worker.on('error', report)
  const store = createEntryStore(queue, retentionMs)
  const holds = createBullHolds(queue, takeoverMs, log)
  const waiting = createWaitingCount()
  const taker = createTaker(worker, holds, waiting, log)
  let answers = true
  let tidied = performance.now()

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    const patience = base.patienceMs === undefined ? new AbortController().signal : AbortSignal.timeout(base.patienceMs)
    try {
      await base.ready(patience)
      return await unlessAborted(work(), patience)
    } catch (cause) {
      if (cause instanceof Error) Reflect.deleteProperty(cause, 'command') // ioredis adds it, and with it the prompt
      throw new WorkloadError('not-ready', 'the queue of prompts cannot be reached', { retryAfter: 2, cause })
    }
  }

  async function poll(): Promise<void> {
    await waiting.refresh(store.countWaiting)
    await Promise.all(
      holds.ids.map(async (id) => {
        if (await store.isUnwanted(id)) holds.stop(id)
      }),
    )
    if (performance.now() - tidied < TIDY_MS) return
    tidied = performance.now()
    await store.tidy()
  }

  const stops = [
    repeat(async () => {
      if (base.isReady)
        try {
          await poll()
          answers = true
          taker.look()
        } catch (error) {
          answers = false
          log.debug({ reason: messageOf(error) }, 'the queue did not answer')
        }
      return pollMs
    }),
    repeat(async () => {
      try {
        await holds.extend()
        return takeoverMs / 3
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'the queue did not answer')
        return takeoverMs / 30
      }
    }),
  ]

  return {
    submit: (request) =>
      ask(async () => {
        const { entry } = await waiting.change(
          () => store.submit(request),
          ({ isNew }) => Number(isNew),
        )
        taker.look()
        return entry
      }),
    find: (id) => ask(() => store.find(id)),
    list: (mostEnded) => ask(() => store.list(mostEnded)),
    get waiting() {
      return waiting.value
    },
    work(handle, hasRoom) {
      worker.on('stalled', taker.look)
      void worker.startStalledCheckTimer()
      taker.work(handle, hasRoom)
    },
    roomChanged: taker.look,
    cancel: (id) =>
      ask(async () => {
        const there = await store.cancel(id)
        if (there) holds.stop(id)
        return there
      }),
    revive: (id, note) =>
      ask(async () => {
        const there = await waiting.change(() => store.revive(id, note), Number)
        taker.look()
        return there
      }),
    remove: (id) => ask(() => store.remove(id)),
    get reachable() {
      return base.isReady && answers
    },
    async rest() {
      await taker.stop()
      await taker.done()
    },
    async close() {
      await taker.stop()
      for (const stop of stops) stop()
      holds.loseAll()
      await worker.close(true)
      await queue.close()
      await base.close()
    },
  }
}
