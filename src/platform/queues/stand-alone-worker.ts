import type { PgPool } from 'bullmq'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { createBullDispatch } from './bull-dispatch.ts'
import { createBullPlaces } from './bull-places.ts'
import { applicationAt } from './call-application.ts'
import { createTransitions } from './transitions.ts'
import { createWorkLoop } from './work-loop.ts'
import { applicationUrl, followReadiness, type InstanceStatus } from './worker.ts'

export interface StandAloneWorkerOptions {
  readonly db: Db
  /** Of the same database: keeps whose turn it is when there is no Redis. */
  readonly pool: PgPool
  readonly redisUrl: string | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  /** BullMQ's name of the queue. */
  readonly queue: string
  /** Of the application, on this machine. */
  readonly port: number
  readonly path: string
  readonly status: InstanceStatus
  /** Called once when the instance is gone. */
  readonly onGone: () => void
  readonly settings: WorkerSettings
}

/** As the platform has them; times in milliseconds. */
export interface WorkerSettings {
  /** The most attempts of a job. */
  readonly attempts: number
  readonly leaseMs: number
  readonly renewMs: number
  /** Between two questions whether the instance is ready. */
  readonly readinessMs: number
  /** Between two looks for jobs while there are none. */
  readonly lookMs: number
}

/** Does the jobs of one queue beside an application, in a process of its own (platform reference, section 15). */
export interface StandAloneWorker {
  /** Takes no more; a job that lasts longer than `graceMs` is an attempt that failed. */
  stop(graceMs: number): Promise<void>
}

/** Begins at once. Webhooks of jobs that end here are stored; the platform sends them. */
export function createStandAloneWorker(options: StandAloneWorkerOptions): StandAloneWorker {
  const { db, pool, redisUrl, now, log, queue, port, path, status, onGone, settings } = options
  const { attempts, leaseMs, renewMs, readinessMs, lookMs } = settings
  const dispatch = createBullDispatch({
    ...{ attempts, leaseMs, renewMs, log },
    places: createBullPlaces({ pool, redisUrl, leaseMs, log }),
  })
  const loop = createWorkLoop({
    ...{ dispatch, log },
    transitions: createTransitions({ db, now, attempts, onWebhooks: () => undefined }),
    places: () => [queue],
    call: applicationAt(applicationUrl(port, path)),
    concurrency: 1,
    restMs: readinessMs,
  })
  const followed = followReadiness({ status, loop, pollMs: readinessMs, onGone, log })
  const looking = setInterval(() => loop.look(), lookMs)
  return {
    async stop(graceMs) {
      clearInterval(looking)
      await followed.stop(graceMs)
      await dispatch.close()
    },
  }
}
