import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { redisDatabase } from '../../support/redis-database.ts'
import { childrenOf, isRunning, patiently, type RunningPlatform, runPlatform } from '../../support/running-platform.ts'

const server = sharedPostgres()
const missing = postgresMissing()

const redis = async () => (inject('redisMissing') === '' ? { REDIS_URL: await redisDatabase() } : {})
const workersOf = ({ program }: RunningPlatform) => childrenOf(program.pid, 'worker-main')

/** Where webhooks are sent, and for which jobs they came. */
async function receiver() {
  const jobs: string[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { data } = JSON.parse(await text(request)) as { data: { id: string } }
    jobs.push(data.id)
    response.end()
  }
  const listening = createServer((request, response) => void receive(request, response)).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  onTestFinished(() => void listening.close())
  return { jobs, url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/` }
}

async function eventsOf({ ask }: RunningPlatform, name: string) {
  const { items } = await ask<{ items: readonly { event_name: string }[] }>('GET /containers/images/system-logs')
  return items.filter(({ event_name }) => event_name === name)
}

/** The processes of the application that did these jobs. */
const doneBy = ({ job }: RunningPlatform, ids: readonly string[]): Promise<ReadonlySet<number>> =>
  patiently(async () => {
    const jobs = await Promise.all(ids.map((id) => job('images', id)))
    expect(jobs.filter(({ status }) => status !== 'succeeded')).toEqual([])
    return new Set(jobs.map(({ output }) => (output as { pid: number }).pid))
  })

describe.skipIf(missing !== '')(`two platforms on the same records${missing && ` (${missing})`}`, () => {
  it('start at the same moment, do everything once, and one takes over when the other is killed', async () => {
    const shared = { DATABASE_URL: await server().database(), ...(await redis()) }
    const both = await Promise.all([runPlatform(shared), runPlatform(shared)])
    const [one, two] = both
    const { jobs, url } = await receiver()
    await one.serve('images', 2)
    await patiently(async () => expect(await eventsOf(two, 'Instance Running')).toHaveLength(2))
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, i) => both[i % 2]!.submit('images', { i, wait: 50 }, { webhook: url })),
    )
    const before = await doneBy(two, ids)
    await patiently(() => expect(jobs.length).toBeGreaterThanOrEqual(30))

    expect(await eventsOf(two, 'Instance Running')).toHaveLength(2)
    expect(both.map((platform) => workersOf(platform).length).sort()).toEqual([0, 2])
    const [keeper, other] = workersOf(one).length > 0 ? [one, two] : [two, one]
    expect(await keeper.statusThroughGateway('images')).toBe(200)
    await keeper.program.stop('SIGKILL')

    await patiently(() => expect(workersOf(other)).toHaveLength(2))
    const after = await doneBy(other, [await other.submit('images', 'after'), await other.submit('images', 'all')])
    expect([...after].filter((pid) => before.has(pid))).toEqual([])
    expect(await eventsOf(other, 'Instance Interrupted (Node Offline)')).toHaveLength(2)
    expect(await other.statusThroughGateway('images')).toBe(200)
    expect(jobs.toSorted()).toEqual(ids.toSorted())

    const again = await runPlatform({ ...shared, PLATFORM_DATA_DIR: keeper.dataDir })
    expect([...before].filter(isRunning)).toEqual([])
    expect(workersOf(again)).toEqual([])
    expect(await again.program.stop()).toEqual([0, null])
    expect(await other.program.stop()).toEqual([0, null])
  }, 240_000)

  it('do not share a folder', async () => {
    const DATABASE_URL = await server().database()
    const { dataDir } = await runPlatform({ DATABASE_URL })
    await expect(runPlatform({ DATABASE_URL, PLATFORM_DATA_DIR: dataDir })).rejects.toThrow('the folder is in use')
  }, 90_000)
})
