import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Launcher } from '../../../src/platform/instances/launcher.ts'
import { groupBench, groupBody, launcherIn } from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { redisMissing, startRedis } from '../../support/redis.ts'
import { patiently, type RunningPlatform, runPlatform } from '../../support/running-platform.ts'
import { serverDatabase } from '../../support/server-database.ts'

const server = sharedPostgres()
const database = serverDatabase(server)
const noPostgres = postgresMissing()
const missing = noPostgres || (redisMissing() ?? '')

/** Leases so short that tests need not wait long for what is lost. */
const times = { JOB_LEASE_S: '6', JOB_LEASE_RENEWAL_S: '1' }

/** Submits jobs all the time, and notes those that are accepted. */
function load({ submit }: RunningPlatform) {
  const accepted: string[] = []
  let refused = 0
  let going = true
  const one = async (): Promise<void> => {
    while (going) {
      await submit('images', { wait: 20 }).then(
        (id) => accepted.push(id),
        () => refused++,
      )
      await pause(50)
    }
  }
  const runs = [one(), one()]
  return {
    accepted,
    refused: () => refused,
    async end() {
      going = false
      await Promise.all(runs)
    },
  }
}

/** All of them were done, by one process: nobody took the instance for lost. */
async function expectDone({ job, program }: RunningPlatform, ids: readonly string[]) {
  await patiently(async () => {
    const jobs = await Promise.all(ids.map((id) => job('images', id)))
    expect(jobs.flatMap(({ status }) => (status === 'succeeded' ? [] : status))).toEqual([])
    expect(new Set(jobs.map(({ output }) => (output as { pid: number }).pid)).size).toBe(1)
  }, 120_000)
  expect(program.lines.filter((line) => line.includes('unhandled'))).toEqual([])
}

async function redisOfOnesOwn() {
  const redis = await startRedis({ folder: await emptyFolder(), appendonly: false })
  onTestFinished(() => redis.stop('SIGKILL'))
  return redis
}

describe.skipIf(missing !== '')(`a platform under load${missing && ` (${missing})`}`, () => {
  it.each([
    ['keeps whose turn it is in PostgreSQL too', async () => ({})],
    ['keeps whose turn it is in Redis', async () => ({ REDIS_URL: (await redisOfOnesOwn()).url })],
  ])(
    'that %s loses nothing when PostgreSQL is restarted',
    async (_what, more) => {
      const platform = await runPlatform({ DATABASE_URL: await server().database(), ...times, ...(await more()) })
      await platform.serve('images', 1)
      const { accepted, refused, end } = load(platform)
      await patiently(() => expect(accepted.length).toBeGreaterThan(20))
      for (let restart = 0; restart < 2; restart++) {
        await server().stop()
        await pause(2000)
        const before = accepted.length
        await server().start()
        await patiently(() => expect(accepted.length).toBeGreaterThan(before + 20))
      }
      await end()
      expect(refused()).toBeGreaterThan(0)
      await expectDone(platform, accepted)
      expect(platform.program.lines.join('\n')).toContain('a connection to PostgreSQL was lost')
      expect(await platform.program.stop()).toEqual([0, null])
    },
    300_000,
  )

  it('loses nothing when Redis is restarted and has forgotten everything', async () => {
    const redis = await redisOfOnesOwn()
    const platform = await runPlatform({ DATABASE_URL: await server().database(), REDIS_URL: redis.url, ...times })
    await platform.serve('images', 1)
    const { accepted, refused, end } = load(platform)
    await patiently(() => expect(accepted.length).toBeGreaterThan(20))
    await redis.stop('SIGKILL')
    const before = accepted.length
    await patiently(() => expect(accepted.length).toBeGreaterThan(before + 20))
    await redis.restart()
    await patiently(() => expect(accepted.length).toBeGreaterThan(before + 40))
    await end()
    expect(refused()).toBe(0)
    await expectDone(platform, accepted)
    expect(platform.program.lines.join('\n')).toContain('Redis cannot be reached')
    expect(await platform.program.stop()).toEqual([0, null])
  }, 300_000)

  it('ends when it is asked to while Redis and PostgreSQL are away', async () => {
    const redis = await redisOfOnesOwn()
    const platform = await runPlatform({ DATABASE_URL: await server().database(), REDIS_URL: redis.url, ...times })
    await platform.serve('images', 1)
    await patiently(async () => expect(await platform.statusThroughGateway('images')).toBe(200))
    await redis.stop('SIGKILL')
    await server().stop()
    onTestFinished(() => server().start())
    expect(await platform.program.stop()).toEqual([0, null])
  }, 120_000)
})

describe.skipIf(noPostgres !== '')(`instances${noPostgres && ` (${noPostgres})`}`, () => {
  it('that begin to run while PostgreSQL is away do so in the records when it is back', async () => {
    const real = launcherIn(await emptyFolder())
    let begin = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      begin = resolve
    })
    const launcher: Launcher = { ...real, start: (order) => gate.then(() => real.start(order)) }
    const { send, list } = await groupBench(database(), { deps: { launcher } })
    await send('POST ', groupBody('first'))
    await patiently(async () => expect(await list('first')).toMatchObject([{ state: 'creating' }]))
    await server().stop()
    begin()
    await pause(1000)
    await server().start()
    await patiently(async () => expect(await list('first')).toMatchObject([{ state: 'running', ready: true }]))
  })
})
