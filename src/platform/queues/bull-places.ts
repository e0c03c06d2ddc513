import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type JobProgress,
  type PgPool,
  Queue,
  Worker,
} from 'bullmq'
import { Redis } from 'ioredis'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { poolForBull } from '../base/server-pool.ts'
import { createTrouble } from '../base/trouble.ts'

/** Nobody follows BullMQ's stream of events. */
const EVENTS_KEPT = 10
/** The largest number both backends take: the records count hand-outs, so BullMQ must never fail a job for stalling. */
const NEVER = 2 ** 31 - 1

/** BullMQ's two halves: one that adds and removes, one that takes. */
export interface BullPlace {
  readonly queue: Queue<null, null, string, null, null, string, IQueueBackend, unknown>
  readonly worker: Worker<null, null, string, IQueueBackend, JobProgress, unknown>
}

/** The places that were asked for, each opened once. */
export interface BullPlaces {
  open(name: string): BullPlace
  /** Closes one of them. */
  forget(name: string): Promise<void>
  close(): Promise<void>
}

export interface BullPlacesOptions {
  /** With BullMQ's tables; used when there is no Redis. */
  readonly pool: PgPool
  readonly redisUrl: string | undefined
  readonly leaseMs: number
  readonly log: Log
}

/** Where BullMQ keeps whose turn it is: in Redis if there is one, else beside the records. */
export function createBullPlaces({ pool, redisUrl, ...options }: BullPlacesOptions): BullPlaces {
  if (redisUrl === undefined) return placesOver(createPostgresBackend, poolForBull(pool), options)
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null })
  const trouble = createTrouble(options.log, 'Redis cannot be reached')
  redis.on('error', trouble.failed).on('ready', trouble.passed)
  const places = placesOver(createRedisBackend, redis, options)
  return {
    ...places,
    async close() {
      await places.close()
      redis.disconnect()
    },
  }
}

function placesOver<Connection>(
  createWith: BackendFactory<IQueueBackend, Connection>,
  connection: Connection,
  { leaseMs, log }: Pick<BullPlacesOptions, 'leaseMs' | 'log'>,
): BullPlaces {
  const places = new Map<string, BullPlace>()
  const common = { connection, prefix: 'platform', skipVersionCheck: true }
  // Nobody waits for jobs here: otherwise each place would keep a connection for that, of which there are few.
  const create: typeof createWith = (name, settings, more) =>
    createWith(name, settings, { ...more, withBlockingConnection: false })
  const report = (error: Error) => log.debug({ reason: messageOf(error) }, 'BullMQ reports an error')

  function make(name: string): BullPlace {
    const queue = new Queue(name, { ...common, streams: { events: { maxLen: EVENTS_KEPT } } }, create)
    // Without a processor: jobs are taken by hand, and only while there is room for them.
    const limits = { lockDuration: leaseMs, stalledInterval: leaseMs / 2, maxStalledCount: NEVER }
    const worker = new Worker(name, null, { ...common, ...limits }, create)
    queue.on('error', report)
    worker.on('error', report)
    return { queue, worker } as unknown as BullPlace // their types repeat the factory's
  }
  async function forget(name: string): Promise<void> {
    const place = places.get(name)
    places.delete(name)
    await place?.worker.close(true)
    await place?.queue.close()
  }
  return {
    open(name) {
      const known = places.get(name)
      if (known) return known
      const place = make(name)
      places.set(name, place)
      // One that cannot look at its tables when it is opened never can: whoever asks next opens another.
      Promise.all([place.queue.waitUntilReady(), place.worker.waitUntilReady()]).catch((error: Error) => {
        report(error)
        if (places.get(name) === place) forget(name).catch(report)
      })
      return place
    },
    forget,
    async close() {
      await Promise.all([...places.keys()].map(forget))
    },
  }
}
