import { sql } from 'kysely'
import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import type { Instances } from '../instances/create-instances.ts'
import type { Queues } from '../queues/create-queues.ts'
import type { QueueWorker } from '../queues/worker.ts'

/** How often it is looked which instances there are. */
const LOOK_MS = 500

/** A worker beside each instance of a group that is connected to a queue (section 15), in this process. */
export interface QueueWorkers {
  open(): void
  close(): Promise<void>
}

export function createQueueWorkers(
  db: Db,
  { queues, instances, log }: { readonly queues: Queues; readonly instances: Instances; readonly log: Log },
): QueueWorkers {
  const workers = new Map<string, QueueWorker>()
  let timer: NodeJS.Timeout | undefined

  const look = async (): Promise<void> => {
    const rows = await db
      .selectFrom('instances')
      .innerJoin('container_groups', 'container_groups.id', 'instances.group_id')
      .where('instances.state', '=', 'running')
      .where('instances.port', 'is not', null)
      .where('container_groups.queue_id', 'is not', null)
      .select(['instances.id', 'instances.port', 'container_groups.queue_id'])
      .select(sql<string>`container_groups.definition->'queue_connection'->>'path'`.as('path'))
      .execute()
    const there = new Set(rows.map(({ id }) => id))
    for (const [id, worker] of workers) {
      if (there.has(id)) continue
      workers.delete(id)
      worker.kill() // its instance is gone, and what it did with it
    }
    for (const { id, port, path, queue_id } of rows) {
      if (workers.has(id)) continue
      const instance = instances.imdsInstance(id)
      const status = async () => (await instance.view())?.status
      const worker = queues.createWorker({ queueId: queue_id!, port: port!, path, status })
      workers.set(id, worker)
    }
  }
  return {
    open() {
      const again = () => {
        look()
          .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'the workers of queues are not up to date'))
          .finally(() => {
            if (timer) timer = setTimeout(again, LOOK_MS)
          })
      }
      timer = setTimeout(again, 0)
    },
    async close() {
      clearTimeout(timer)
      timer = undefined
      await Promise.all([...workers.values()].map((worker) => worker.stop(0)))
    },
  }
}
