import { describe, expect, inject, it } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { redisDatabase } from '../../support/redis-database.ts'
import { patiently, runPlatform } from '../../support/running-platform.ts'

/** Much less than the lease of a job, which is a minute. */
const SOON_MS = 40_000

const kinds = [
  { name: 'nothing but its folder', missing: '', redis: async () => ({}) },
  {
    name: 'its folder and Redis',
    missing: inject('redisMissing'),
    redis: async () => ({ REDIS_URL: await redisDatabase() }),
  },
]

for (const { name, missing, redis } of kinds)
  describe.skipIf(missing !== '')(`a platform with ${name}${missing && ` (${missing})`}`, () => {
    it('has a job that was running when it was killed done again soon after the next start', async () => {
      const environment = { PLATFORM_DATA_DIR: await emptyFolder(), ...(await redis()) }
      const killed = await runPlatform(environment)
      await killed.serve('images', 1)
      const first = await killed.submit('images', { wait: 3000 })
      const second = await killed.submit('images', {})
      await patiently(async () => expect((await killed.job('images', first)).status).toBe('running'))
      await killed.program.stop('SIGKILL')

      const next = await runPlatform(environment)
      await patiently(async () => {
        for (const id of [first, second]) expect((await next.job('images', id)).status).toBe('succeeded')
      }, SOON_MS)
      const { events } = await next.job('images', first)
      expect(events.map(({ action }) => action)).toEqual(['created', 'started', 'started', 'succeeded'])
      expect(await next.program.stop()).toEqual([0, null])
    }, 150_000)

    it('has a job done again at once whose instance is replaced', async () => {
      const platform = await runPlatform(await redis())
      await platform.serve('images', 1)
      const id = await platform.submit('images', { wait: 6000 })
      await patiently(async () => expect((await platform.job('images', id)).status).toBe('running'))
      const { instances } = await platform.ask<{ instances: readonly { id: string }[] }>(
        'GET /containers/images/instances',
      )
      await platform.ask(`POST /containers/images/instances/${instances[0]!.id}/restart`)
      await patiently(async () => expect((await platform.job('images', id)).status).toBe('succeeded'), SOON_MS)
      const { events } = await platform.job('images', id)
      expect(events.map(({ action }) => action)).toEqual(['created', 'started', 'started', 'succeeded'])
    }, 150_000)
  })
