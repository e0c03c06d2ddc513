import { DEFAULT_SCHEMA, type PgPool, runMigrations } from 'bullmq'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import { createBullDispatch } from './bull-dispatch.ts'
import { createBullPlaces } from './bull-places.ts'
import { createEndpointBook, type EndpointBook, type EndpointSettings } from './endpoint-book.ts'
import { createJobDesk, type JobDesk } from './job-desk.ts'
import { bullNameOf } from './job-place.ts'
import { createJobStore } from './job-store.ts'
import { createProcessors } from './processors.ts'
import { createQueueBook, type QueueBook } from './queue-book.ts'
import { createRecovery } from './recovery.ts'
import { createTransitions } from './transitions.ts'
import { createWorkLoop, type WorkLoop, type WorkLoopOptions } from './work-loop.ts'
import { followReadiness, type InstanceStatus, type QueueWorker } from './worker.ts'

const TIDY_MS = 60_000

/** How jobs are handed out; times in milliseconds (platform reference, section 27). */
export interface QueueSettings extends EndpointSettings {
  /** The most attempts of a job. */
  readonly attempts: number
  /** How long a worker may be silent before its job goes to another. */
  readonly leaseMs: number
  readonly renewMs: number
  /** How long jobs are kept after their end. */
  readonly retentionMs: number
  /** How often instances are asked whether they are ready. */
  readonly readinessMs: number
  /** How often to look for jobs that other processes added; with the embedded database there are none. */
  readonly lookMs: number
}

export interface QueuesOptions {
  readonly db: Db
  /** Of the same database: keeps whose turn it is when there is no Redis. */
  readonly pool: PgPool
  readonly redisUrl: string | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  readonly settings: QueueSettings
  /** Called after calls to be made were stored in `webhook_messages`. */
  readonly onWebhooks?: () => void
}

/** The application of one instance, and the queue that its group is connected to. */
export interface WorkerOptions {
  readonly queueId: string
  readonly port: number
  /** A missing leading slash is added. */
  readonly path: string
  readonly status: InstanceStatus
}

/** Jobs, queues and endpoints, and who does the work. */
export interface Queues {
  readonly jobs: JobDesk
  readonly queues: QueueBook
  readonly endpoints: EndpointBook
  /** Brings the hand-out in step with the records and begins to work. */
  open(): Promise<void>
  /** Ends all work: attempts that last longer than `graceMs` count as failed. */
  close(graceMs?: number): Promise<void>
  createWorker(options: WorkerOptions): QueueWorker
}

/** Joins the parts of job queues. Throws when an endpoint is badly configured. */
export function createQueues({ db, pool, redisUrl, now, log, settings, onWebhooks = nothing }: QueuesOptions): Queues {
  const { attempts, leaseMs, renewMs, retentionMs, readinessMs, lookMs } = settings
  const endpoints = createEndpointBook(settings)
  const places = createBullPlaces({ pool, redisUrl, leaseMs, log })
  const dispatch = createBullDispatch({ places, attempts, leaseMs, renewMs, log })
  const transitions = createTransitions({ db, now, attempts, onWebhooks })
  const store = createJobStore({ db, now, retentionMs })
  const recovery = createRecovery({ db, dispatch, transitions })
  const workers = new Map<QueueWorker, WorkLoop>()
  const createLoop = (options: Pick<WorkLoopOptions, 'places' | 'url' | 'concurrency'>) =>
    createWorkLoop({ dispatch, transitions, log, ...options })
  const processors = createProcessors({ db, processors: endpoints.processors, createLoop })
  const look = (): void => {
    for (const loop of [...workers.values(), ...processors.loops]) loop.look()
  }
  const jobs = createJobDesk({ store, transitions, dispatch, onAdded: look, log })
  const timers: NodeJS.Timeout[] = []
  const every = (ms: number, what: string, work: () => Promise<unknown>): void => {
    const run = () => work().catch((error: unknown) => log.warn({ reason: messageOf(error) }, what))
    timers.push(setInterval(() => void run(), ms))
  }

  return {
    jobs,
    queues: createQueueBook({ db, now, transitions, dispatch, onWebhooks, log }),
    endpoints,
    async open() {
      if (redisUrl === undefined) await prepare(pool)
      await recovery.sweep()
      await processors.open()
      every(leaseMs / 2, 'lapsed jobs were not looked for', async () => {
        if ((await recovery.recover()) > 0) look()
      })
      every(TIDY_MS, 'old jobs were not removed', store.removeOld)
      every(lookMs, 'jobs were not added', async () => {
        await jobs.addMissing()
        look()
      })
    },
    async close(graceMs = 0) {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all([processors.stop(graceMs), ...[...workers.keys()].map((worker) => worker.stop(graceMs))])
      await dispatch.close()
    },
    createWorker({ queueId, port, path, status }) {
      const names = [bullNameOf({ queueId })]
      const url = new URL(path.startsWith('/') ? path : `/${path}`, `http://localhost:${port}`)
      const loop = createLoop({ places: () => names, url, concurrency: 1 })
      const followed = followReadiness(status, loop, readinessMs, log)
      const worker: QueueWorker = {
        ...followed,
        async stop(graceMs) {
          await followed.stop(graceMs)
          workers.delete(worker)
        },
        kill() {
          followed.kill()
          workers.delete(worker)
        },
      }
      workers.set(worker, loop)
      return worker
    },
  }
}

/** BullMQ's own tables. */
async function prepare(pool: PgPool): Promise<void> {
  const client = await pool.connect()
  try {
    await runMigrations(client, DEFAULT_SCHEMA)
  } finally {
    client.release()
  }
}

const nothing = (): void => undefined
