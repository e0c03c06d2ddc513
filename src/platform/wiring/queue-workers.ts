import { sql } from 'kysely'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import { createTrouble } from '../base/trouble.ts'
import type { Instances } from '../instances/create-instances.ts'
import { startWorkerProcess, type WorkerProcessOptions } from '../instances/worker-process.ts'
import type { Queues } from '../queues/create-queues.ts'
import { bullNameOf } from '../queues/job-place.ts'
import type { QueueWorker } from '../queues/worker.ts'

/** How often it is looked which instances there are. */
const LOOK_MS = 500

/** An instance of a group that is connected to a queue. */
export interface WorkedInstance {
  readonly id: string
  readonly queueId: string
  /** Of its application, on this machine. */
  readonly port: number
  readonly path: string
}

/** Starts the worker of an instance. */
export type StartWorker = (instance: WorkedInstance) => Pick<QueueWorker, 'stop'>

/** A worker beside each instance of a group that is connected to a queue (section 15). */
export interface QueueWorkers {
  open(): void
  /** Gives their jobs as much time as those of instances that stop. */
  close(): Promise<void>
}

export interface QueueWorkersOptions {
  readonly db: Db
  readonly startWorker: StartWorker
  /** For the job of a worker whose instance stops, in milliseconds. */
  readonly graceMs: number
  readonly log: Log
}

export function createQueueWorkers({ db, startWorker, graceMs, log }: QueueWorkersOptions): QueueWorkers {
  const workers = new Map<string, ReturnType<StartWorker>>()
  const ending = new Set<Promise<void>>()
  const trouble = createTrouble(log, 'the workers of queues are not up to date')
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  function end(id: string, worker: ReturnType<StartWorker>): void {
    workers.delete(id)
    const ended = worker
      .stop(graceMs)
      .catch((error: unknown) => log.warn({ instance: id, reason: messageOf(error) }, 'a worker did not end well'))
      .finally(() => ending.delete(ended))
    ending.add(ended)
  }
  async function look(): Promise<void> {
    const rows = await db
      .selectFrom('instances')
      .innerJoin('container_groups', 'container_groups.id', 'instances.group_id')
      .where('instances.state', '=', 'running')
      .where('instances.port', 'is not', null)
      .where('container_groups.queue_id', 'is not', null)
      .select(['instances.id', 'instances.port', 'container_groups.queue_id'])
      .select(sql<string>`container_groups.definition->'queue_connection'->>'path'`.as('path'))
      .execute()
    if (!timer) return
    const there = new Set(rows.map(({ id }) => id))
    for (const [id, worker] of workers) if (!there.has(id)) end(id, worker)
    for (const { id, port, path, queue_id } of rows)
      if (!workers.has(id)) workers.set(id, startWorker({ id, port: port!, path, queueId: queue_id! }))
  }
  return {
    open() {
      const again = (): void => {
        looking = look()
          .then(trouble.passed, trouble.failed)
          .finally(() => {
            if (timer) timer = setTimeout(again, LOOK_MS)
          })
      }
      timer = setTimeout(again, 0)
    },
    async close() {
      clearTimeout(timer)
      timer = undefined
      await looking
      for (const [id, worker] of workers) end(id, worker)
      await Promise.all(ending)
    },
  }
}

/** Workers in this process: an embedded database can be opened by no other. */
export const workersHere =
  (queues: Queues, instances: Pick<Instances, 'imdsInstance'>): StartWorker =>
  ({ id, ...connection }) => {
    const instance = instances.imdsInstance(id)
    return queues.createWorker({ ...connection, status: async () => (await instance.view())?.status })
  }

/** Workers that are processes of their own. `imdsOf` is the address of an instance's metadata service. */
export const workerProcesses =
  (options: WorkerProcessOptions, imdsOf: (instanceId: string) => string | undefined): StartWorker =>
  ({ id, queueId, port, path }) =>
    startWorkerProcess({
      ...options,
      environment: {
        ...options.environment,
        WORKER_QUEUE: bullNameOf({ queueId }),
        WORKER_PORT: `${port}`,
        WORKER_PATH: path,
        INSTANCE_METADATA_URI: imdsOf(id),
      },
    })
