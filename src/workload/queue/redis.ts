import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import { unlessAborted } from '../base/abort.ts'
import { messageOf } from '../base/errors.ts'
import { type BullQueueOptions, createBullQueue } from './bull-queue.ts'
import type { JobQueue } from './job-queue.ts'

/** How long callers wait for Redis; an answer that takes longer is none. */
const ANSWER_MS = 2000
const RECONNECT_MS = 1000

/** Says at once when something cannot be done, and does not do later what was asked for meanwhile. */
const connectionOptions = {
  maxRetriesPerRequest: null, // BullMQ insists
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  commandTimeout: ANSWER_MS,
  connectTimeout: ANSWER_MS,
  retryStrategy: (attempt: number) => Math.min(attempt * 50, RECONNECT_MS),
}

/** Prompts that wait in Redis, for all servers with the same `url`. It need not be up yet, and may go away for a while. */
export function openRedisQueue({ url, ...options }: BullQueueOptions & { readonly url: string }): JobQueue {
  const { log } = options
  const redis = new Redis(url, connectionOptions)
  let told = false
  const waiting = new Set<() => void>()

  redis.on('ready', () => {
    if (told) log.info({}, 'Redis is back')
    told = false
    for (const go of waiting) go()
    void warnOfEviction()
  })
  // Errors are told by their message alone: ioredis adds the command, and with it passwords and prompts.
  redis.on('error', (error) => {
    log[told ? 'debug' : 'warn']({ reason: messageOf(error) }, 'Redis cannot be reached')
    told = true
  })

  async function warnOfEviction(): Promise<void> {
    try {
      const [, policy] = /^maxmemory_policy:(\S+)/m.exec(await redis.info('memory')) ?? []
      if (policy !== undefined && policy !== 'noeviction')
        log.warn({ policy }, 'Redis may evict waiting prompts: its maxmemory-policy should be noeviction')
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'Redis does not tell its maxmemory-policy')
    }
  }

  return createBullQueue(
    {
      create: createRedisBackend,
      connection: redis,
      get isReady() {
        return redis.status === 'ready'
      },
      patienceMs: ANSWER_MS,
      async ready(signal) {
        if (redis.status === 'ready') return
        let go = (): void => undefined
        const ready = new Promise<void>((resolve) => {
          go = resolve
        })
        waiting.add(go)
        await unlessAborted(ready, signal).finally(() => waiting.delete(go))
      },
      async close() {
        redis.disconnect()
      },
    },
    options,
  )
}
