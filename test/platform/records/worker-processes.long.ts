import { describe, expect, inject, it } from 'vitest'
import { emptyFolder } from '../../support/folder.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { redisDatabase } from '../../support/redis-database.ts'
import { childrenOf, isRunning, patiently, type RunningPlatform, runPlatform } from '../../support/running-platform.ts'

const server = sharedPostgres()
const noPostgres = postgresMissing()

const kinds = [
  { name: 'PostgreSQL', missing: noPostgres, redis: async () => ({}) },
  {
    name: 'PostgreSQL and Redis',
    missing: noPostgres || inject('redisMissing'),
    redis: async () => ({ REDIS_URL: await redisDatabase() }),
  },
]

const workersOf = ({ program }: RunningPlatform) => childrenOf(program.pid, 'worker-main')
const ended = ({ job }: RunningPlatform, ids: readonly string[]) =>
  patiently(async () => {
    const jobs = await Promise.all(ids.map((id) => job('images', id)))
    expect(jobs.filter(({ status }) => status === 'pending' || status === 'running')).toEqual([])
    return jobs
  })
const submitMany = ({ submit }: RunningPlatform, count: number, wait: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => submit('images', { i, wait })))

for (const { name, missing, redis } of kinds)
  describe.skipIf(missing !== '')(`a platform on ${name}${missing && ` (${missing})`}`, () => {
    it('has a process beside each instance that does the jobs of its queue, and starts it again when it dies', async () => {
      const platform = await runPlatform({ DATABASE_URL: await server().database(), ...(await redis()) })
      await platform.serve('images', 2)
      const ids = await submitMany(platform, 20, 100)
      const jobs = await ended(platform, ids)
      for (const { status, input, output } of jobs)
        expect({ status, output }).toMatchObject({ status: 'succeeded', output: { seen: input } })
      expect(new Set(jobs.map(({ output }) => (output as { pid: number }).pid)).size).toBe(2)

      const workers = workersOf(platform)
      expect(workers).toHaveLength(2)
      process.kill(workers[0]!, 'SIGKILL')
      await patiently(() => {
        expect(workersOf(platform)).toHaveLength(2)
        expect(workersOf(platform)).not.toContain(workers[0])
      })
      await platform.ask('POST /containers/images/stop')
      await patiently(() => expect(workersOf(platform)).toEqual([]))
      await platform.ask('POST /containers/images/start')
      await ended(platform, await submitMany(platform, 2, 0))

      const left = workersOf(platform)
      expect(await platform.program.stop()).toEqual([0, null])
      expect(left.filter(isRunning)).toEqual([])
    }, 180_000)

    it('leaves nothing when it is killed, and its jobs are done after the next start', async () => {
      const environment = {
        ...{ DATABASE_URL: await server().database(), PLATFORM_DATA_DIR: await emptyFolder() },
        ...{ JOB_LEASE_S: '4', JOB_LEASE_RENEWAL_S: '1', ...(await redis()) },
      }
      const killed = await runPlatform(environment)
      await killed.serve('images', 1)
      const ids = await submitMany(killed, 5, 1500)
      await patiently(async () => expect((await killed.job('images', ids[0]!)).status).toBe('succeeded'))
      const left = workersOf(killed)
      expect(left).toHaveLength(1)
      await killed.program.stop('SIGKILL')
      await patiently(() => expect(left.filter(isRunning)).toEqual([]))

      const next = await runPlatform(environment)
      const jobs = await ended(next, ids)
      expect(jobs.map(({ status }) => status)).toEqual(ids.map(() => 'succeeded'))
    }, 180_000)
  })
