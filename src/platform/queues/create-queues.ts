import { DEFAULT_SCHEMA, type PgPool, runMigrations } from 'bullmq'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { createTrouble } from '../base/trouble.ts'
import { createBullDispatch } from './bull-dispatch.ts'
import { createBullPlaces } from './bull-places.ts'
import { applicationAt } from './call-application.ts'
import { type ProcessorPorts, processorCall } from './call-processor.ts'
import { createEndpointBook, type EndpointBook, type EndpointSettings } from './endpoint-book.ts'
import { createJobDesk, type JobDesk } from './job-desk.ts'
import { bullNameOf, type JobPlace } from './job-place.ts'
import { createJobStore } from './job-store.ts'
import { createProcessors } from './processors.ts'
import { createQueueBook, type QueueBook } from './queue-book.ts'
import { createRecovery } from './recovery.ts'
import { createTransitions } from './transitions.ts'
import { createWorkLoop, type WorkLoop, type WorkLoopOptions } from './work-loop.ts'
import { applicationUrl, followReadiness, type InstanceStatus, type QueueWorker } from './worker.ts'

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

export interface QueuesOptions extends ProcessorPorts {
  readonly db: Db
  /** Of the same database: keeps whose turn it is when there is no Redis. */
  readonly pool: PgPool
  readonly redisUrl: string | undefined
  /** Whether no other process can work with these records, so that whoever held a job before this one is gone. */
  readonly isAlone?: boolean
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
export function createQueues(options: QueuesOptions): Queues {
  const { db, pool, redisUrl, isAlone, now, log, settings, onWebhooks = nothing, useWorkload, storeOutput } = options
  const { attempts, leaseMs, renewMs, retentionMs, readinessMs, lookMs } = settings
  const endpoints = createEndpointBook(settings)
  const places = createBullPlaces({ pool, redisUrl, leaseMs, log })
  const dispatch = createBullDispatch({ places, attempts, leaseMs, renewMs, log })
  const transitions = createTransitions({ db, now, attempts, onWebhooks })
  const store = createJobStore({ db, now, retentionMs })
  const recovery = createRecovery({ db, dispatch, transitions })
  const workers = new Map<QueueWorker, WorkLoop>()
  const createLoop = (work: Omit<WorkLoopOptions, 'dispatch' | 'transitions' | 'log'>) =>
    createWorkLoop({ dispatch, transitions, log, ...work })
  const processors = createProcessors({
    ...{ db, createLoop },
    processors: new Map([...endpoints.processors].filter(([, { url }]) => useWorkload || !url.startsWith('/'))),
    callOf: (endpoint, { url }) => processorCall({ endpoint, url, log, useWorkload, storeOutput }),
  })
  const look = (): void => {
    for (const loop of workers.values()) loop.look()
  }
  const noteAdded = (place: JobPlace): void =>
    'queueId' in place ? look() : processors.noteJob(place.organizationId, place.endpoint)
  const jobs = createJobDesk({ store, transitions, dispatch, onAdded: noteAdded, log })
  const timers: NodeJS.Timeout[] = []
  const every = (ms: number, what: string, work: () => Promise<unknown>): void => {
    const trouble = createTrouble(log, what)
    let isRunning = false // for long while Redis is away
    const run = async (): Promise<void> => {
      if (isRunning) return
      isRunning = true
      await work().then(trouble.passed, trouble.failed)
      isRunning = false
    }
    timers.push(setInterval(() => void run(), ms))
  }

  return {
    jobs,
    queues: createQueueBook({ db, now, transitions, dispatch, onWebhooks, log }),
    endpoints,
    async open() {
      if (redisUrl === undefined) await prepare(pool)
      if (isAlone) await recovery.release()
      await recovery.sweep()
      await processors.open()
      every(leaseMs / 2, 'lapsed jobs were not looked for', async () => {
        const isMore = await recovery.sweepMissing()
        if ((await recovery.recover()) === 0 && !isMore) return
        look()
        await processors.look()
      })
      every(TIDY_MS, 'old jobs were not removed', store.removeOld)
      every(lookMs, 'jobs were not added', async () => {
        await jobs.addMissing()
        look()
        await processors.look()
      })
    },
    async close(graceMs = 0) {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all([processors.stop(graceMs), ...[...workers.keys()].map((worker) => worker.stop(graceMs))])
      await dispatch.close()
    },
    createWorker({ queueId, port, path, status }) {
      const names = [bullNameOf({ queueId })]
      const call = applicationAt(applicationUrl(port, path))
      const loop = createLoop({ places: () => names, call, concurrency: 1, restMs: readinessMs, onAgain: look })
      const followed = followReadiness({ status, loop, pollMs: readinessMs, log })
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
