import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {} from 'vitest' // so that the declaration at the end finds the module it extends
import type { TestProject } from 'vitest/node'
import { redisMissing, startRedis } from './redis.ts'

/** Gives all tests one Redis: the one that `REDIS_URL` names, else one of their own. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { REDIS_URL: given } = process.env
  const missing = given ? undefined : redisMissing()
  project.provide('redisMissing', missing ?? '')
  project.provide('redisUrl', given ?? '')
  if (given || missing !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'easel-redis-'))
  const redis = await startRedis({ folder, appendonly: false })
  project.provide('redisUrl', redis.url)
  return async () => {
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** Empty when there is none. */
    readonly redisUrl: string
    /** Why there is none; else empty. */
    readonly redisMissing: string
  }
}
