import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'

/** Says which databases are taken, by all test processes together. */
const COUNTER = 'easel-test-databases'

/** The URL of an empty database of the shared Redis, for the length of one test. */
export async function redisDatabase(): Promise<string> {
  const url = new URL(inject('redisUrl'))
  const redis = new Redis(url.href)
  for (let size = 1; size > 0; size = await redis.dbsize()) {
    await redis.select(0)
    const [, most = '16'] = (await redis.config('GET', 'databases')) as string[]
    const taken = await redis.incr(COUNTER)
    const number = 1 + (taken % (Number(most) - 1))
    await redis.select(number)
    url.pathname = `/${number}`
  }
  onTestFinished(async () => {
    await redis.flushdb()
    redis.disconnect()
  })
  return url.href
}
