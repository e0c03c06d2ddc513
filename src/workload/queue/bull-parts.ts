import { type BackendFactory, type IQueueBackend, type JobProgress, Queue, Worker } from 'bullmq'
import type { StoredEnd, StoredRequest } from './stored-entry.ts'

/** BullMQ's name for our one queue. */
const NAME = 'prompts'
/** Nobody follows the stream of events, and notes are copied into it. */
const EVENTS_KEPT = 10
/** The largest number that both backends take: BullMQ must not fail an entry, however many servers die with it. */
const NEVER = 2 ** 31 - 1

export type BullQueue = Queue<
  StoredRequest,
  StoredEnd,
  string,
  StoredRequest,
  StoredEnd,
  string,
  IQueueBackend,
  unknown
>
export type BullWorker = Worker<StoredRequest, StoredEnd, string, IQueueBackend, JobProgress, unknown>

/** Where BullMQ keeps its jobs. */
export interface Backing<Connection> {
  readonly create: BackendFactory<IQueueBackend, Connection>
  readonly connection: Connection
}

/** BullMQ's two halves over one connection: one that adds and reads, one that takes. */
export function createBullParts<Connection>({ create, connection }: Backing<Connection>, takeoverMs: number) {
  const common = { connection, prefix: 'easel', skipVersionCheck: true }
  const queue = new Queue(NAME, { ...common, streams: { events: { maxLen: EVENTS_KEPT } } }, create)
  // Without a processor: entries stay held for hours while their webhooks are retried, and take no place meanwhile.
  const worker = new Worker(
    NAME,
    null,
    { ...common, lockDuration: takeoverMs, stalledInterval: takeoverMs / 2, maxStalledCount: NEVER },
    create,
  )
  return { queue: queue as unknown as BullQueue, worker: worker as unknown as BullWorker }
}
