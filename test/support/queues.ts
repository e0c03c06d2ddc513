import { existsSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { createRedisBackend, type PgPool } from 'bullmq'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, inject, onTestFinished, vi } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import { createBullParts } from '../../src/workload/queue/bull-parts.ts'
import { type Base, type BullQueueOptions, createBullQueue } from '../../src/workload/queue/bull-queue.ts'
import { openEmbeddedBase, type Place } from '../../src/workload/queue/embedded.ts'
import { type HeldEntry, HoldLost, type JobQueue, type QueueRequest } from '../../src/workload/queue/job-queue.ts'
import { createMemoryQueue } from '../../src/workload/queue/memory.ts'
import { openRedisQueue } from '../../src/workload/queue/redis.ts'
import { sharedFolder } from './folder.ts'
import { redisDatabase } from './redis-database.ts'

/** Short enough for tests, long beside what a busy machine takes to answer. */
export const queueTimes: BullQueueOptions = { takeoverMs: 900, retentionMs: 60_000, pollMs: 25, log: silentLog }

/** On a busy machine; otherwise it is a tenth of it. */
export const MAKING_MS = 120_000

/** One place where prompts wait, and servers that share it; all of them end with the test. */
export interface Bench {
  server(times?: Partial<BullQueueOptions>): JobQueue
  /** A server that takes the next entry and is never heard of again. Resolves with the entry's id. */
  deadServer(): Promise<string | undefined>
}

export interface QueueKind {
  readonly name: string
  /** Why it cannot be tested here; else empty. */
  readonly missing: string
  /** Whether several servers can share it. */
  readonly shared: boolean
  bench(): Promise<Bench>
}

/** Closes the queue at the end of the test. */
export function closing(queue: JobQueue): JobQueue {
  onTestFinished(() => queue.close())
  return queue
}

export const memoryKind: QueueKind = {
  name: 'memory',
  missing: '',
  shared: false,
  async bench() {
    const queue = closing(createMemoryQueue({ now: Date.now, retentionMs: queueTimes.retentionMs }))
    return { server: () => queue, deadServer: () => Promise.reject(new Error('it would take the entries with it')) }
  },
}

export function redisKind(): QueueKind {
  return {
    name: 'Redis',
    missing: inject('redisMissing'),
    shared: true,
    async bench() {
      const url = await redisDatabase()
      return {
        server: (times) => closing(openRedisQueue({ url, ...queueTimes, ...times })),
        async deadServer() {
          const connection = new Redis(url, { maxRetriesPerRequest: null })
          onTestFinished(async () => connection.disconnect())
          return takeAndDie({ create: createRedisBackend, connection })
        },
      }
    },
  }
}

/** Where a test keeps an embedded queue; the thread is the built one, for threads run no TypeScript. */
export const placeIn = (folder: string): Place => ({
  folder,
  entry: new URL('../../dist/common/postgres/database-thread.js', import.meta.url),
  holder: { pid: process.pid, host: hostname(), started: performance.timeOrigin },
  now: Date.now,
  log: silentLog,
})

/** Puts a new database into `folder`: a copy, for making one takes seconds. */
export async function queueFolderIn(folder: string): Promise<void> {
  const template = resolve('node_modules/.cache/queue-database')
  if (!existsSync(template)) {
    const unfinished = `${template}.${process.pid}`
    const base = await openEmbeddedBase(placeIn(unfinished))
    await base.close()
    await rename(unfinished, template).catch(() => rm(unfinished, { recursive: true })) // another test was faster
  }
  await cp(template, folder, { recursive: true })
}

/** To be called while tests are declared: they share one database, which is emptied for each. */
export function embeddedKind(): QueueKind {
  const folder = sharedFolder()
  let opened: Base<PgPool> | undefined
  beforeAll(async () => {
    await queueFolderIn(folder())
    opened = await openEmbeddedBase(placeIn(folder()))
  }, MAKING_MS)
  afterAll(() => opened?.close())
  return {
    name: 'embedded',
    missing: '',
    shared: true,
    async bench() {
      if (!opened) throw new Error('the database is opened before the tests')
      const base = { ...opened, close: async () => undefined }
      await base.connection.query('TRUNCATE job, event, meta CASCADE')
      return {
        server: (times) => closing(createBullQueue(base, { ...queueTimes, ...times })),
        deadServer: () => takeAndDie(base),
      }
    },
  }
}

async function takeAndDie<Connection>(backing: Parameters<typeof createBullParts<Connection>>[0]) {
  const { queue, worker } = createBullParts(backing, queueTimes.takeoverMs)
  const job = await worker.getNextJob('a token', { block: false })
  await worker.close(true)
  await queue.close()
  return job?.data.id
}

/** Waits until `check` passes: machines that run tests are busy. */
export const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 15_000, interval: 10 })

/** A request as others make it. */
export const requestOf = (id: string, request: Partial<QueueRequest> = {}): QueueRequest => ({
  id,
  run: 1,
  asked: `what ${id} asks`,
  priority: 0,
  created: Number(id.replace(/\D/g, '')),
  ...request,
})

/** Takes what there is room for and keeps it until the test ends it or gives it back. */
export function collect(queue: JobQueue, room = Number.POSITIVE_INFINITY): HeldEntry[] {
  const held: HeldEntry[] = []
  let free = room
  const handle = (entry: HeldEntry): Promise<void> => {
    free--
    return new Promise((resolve) => {
      const done = (): void => {
        free++
        resolve()
        queue.roomChanged()
      }
      held.push({
        ...entry,
        end: (note, asked) => entry.end(note, asked).then(done),
        giveBack: () => entry.giveBack().then(done),
      })
      entry.signal.addEventListener('abort', () => {
        if (entry.signal.reason instanceof HoldLost) done()
      })
    })
  }
  queue.work(handle, () => free > 0)
  return held
}
