import { hostname } from 'node:os'
import { extname, join } from 'node:path'
import type { Log } from '../../common/log.ts'
import { hasDatabase } from '../../common/postgres/database.ts'
import type { Config } from '../config.ts'
import type { JobQueue } from '../queue/job-queue.ts'
import { createLazyQueue } from '../queue/lazy.ts'
import { createMemoryQueue } from '../queue/memory.ts'

/** How often to look for what other servers did. */
const POLL_MS = 1000

/** Where asynchronous prompts wait. BullMQ and its databases are loaded when they are needed: they take a while. */
export function wireQueue(
  { queue: { store, redisUrl, dataDir, takeoverMs }, credentialsKey, jobRetentionMs }: Config,
  log: Log,
): JobQueue {
  const options = { takeoverMs, retentionMs: jobRetentionMs, pollMs: POLL_MS, log }
  if (store === 'memory') return createMemoryQueue({ now: Date.now, retentionMs: jobRetentionMs })
  if (redisUrl !== undefined && credentialsKey === undefined)
    log.warn({}, 'without CREDENTIALS_KEY other servers of this Redis cannot take over prompts that carry credentials')
  if (redisUrl !== undefined)
    return createLazyQueue({
      open: async () => (await import('../queue/redis.ts')).openRedisQueue({ url: redisUrl, ...options }),
      exists: () => true,
      log,
    })
  const folder = join(dataDir, 'queue')
  return createLazyQueue({
    async open() {
      const { openEmbeddedQueue } = await import('../queue/embedded.ts')
      const started = Math.round(performance.timeOrigin)
      const holder = { pid: process.pid, host: hostname(), started }
      return openEmbeddedQueue({ folder, entry, holder, now: Date.now, log }, jobRetentionMs)
    },
    exists: () => hasDatabase(join(folder, 'database')),
    log,
  })
}

// As .ts from source and as .js from dist.
const entry = new URL(`../../common/postgres/database-thread${extname(import.meta.filename)}`, import.meta.url)
