import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPlatformProcess } from '../../../tools/chaos/platform-process.ts'
import { createRandom, seedOfRun } from '../../../tools/chaos/random.ts'
import { emptyFolder, sharedFolder } from '../../support/folder.ts'
import { postgresMissing, sharedPostgres } from '../../support/postgres.ts'
import { receiver } from '../../support/receiver.ts'
import { createLedger } from './ledger.ts'

/** Short times, so that what waits for a lost process waits not long. */
const environment = {
  ...{ LOG_LEVEL: 'warn', REQUESTS_PER_MINUTE: '0', REPLICA_QUOTA: '50', STOP_GRACE_S: '2' },
  ...{ WEBHOOK_TIMEOUT_S: '2', WEBHOOK_WAITS_S: '0,1,1,1,1,1', WORKER_POLL_S: '0.5' },
}

/** A platform with a queue and a group of two instances that do its jobs, and who remembers what it promised. */
async function running(folder: string, more: Readonly<Record<string, string>> = {}) {
  const platform = createPlatformProcess(folder, { ...environment, ...more })
  const ledger = createLedger(platform)
  const whole = () =>
    vi.waitFor(async () => expect(await ledger.faults()).toEqual([]), { timeout: 100_000, interval: 250 })
  try {
    await platform.start()
    await ledger.queue()
    await ledger.group('first', 2)
    await whole()
  } catch (error) {
    await platform.sweep() // nobody else can
    throw error
  }
  return { platform, ledger, whole }
}
type Bench = Awaited<ReturnType<typeof running>>

/** What happens, and resolves at the moment to kill; what it leaves under way is awaited afterwards. */
type Point = (bench: Bench) => Promise<readonly Promise<unknown>[]>

const points: Readonly<Record<string, Point>> = {
  'while groups are created': async ({ ledger }) => {
    const created = ['second', 'third', 'fourth'].map((name) => ledger.group(name, 1))
    await Promise.race(created)
    return created
  },
  'while jobs are created': async ({ ledger }) => {
    const created = Array.from({ length: 40 }, () => ledger.job(0))
    await Promise.all(created.slice(0, 15))
    return created
  },
  'while jobs run': async ({ ledger }) => {
    await Promise.all([ledger.job(3000), ledger.job(3000), ledger.job(0), ledger.job(0)])
    await pause(700)
    return []
  },
  'after a running job was cancelled': async ({ ledger }) => {
    await ledger.job(3000)
    await pause(700)
    await ledger.cancelLast()
    return []
  },
  'while files are uploaded, new ones and old ones': async ({ ledger }) => {
    await ledger.upload('old/file', 3_000_000)
    const uploads = ['old/file', 'a', 'b', 'c'].map((path) => ledger.upload(path, 20_000_000))
    await Promise.race([pause(100), ...uploads])
    return uploads
  },
  'right after a file was answered, and one removed': async ({ ledger }) => {
    await ledger.upload('gone', 1000)
    await ledger.removeFile('gone')
    await ledger.upload('kept', 2_000_000)
    return []
  },
  'between the parts of an upload, which goes on afterwards': async ({ ledger }) => {
    const second = new Promise<void>((resolve) => {
      void ledger.multipart('large', 4, (number) => number === 2 && resolve())
    })
    await second
    return []
  },
  'while parts are joined': async ({ ledger }) => {
    let joining: Promise<unknown> = Promise.resolve()
    await new Promise<void>((resolve) => {
      joining = ledger.multipart('large', 3, (number) => number === 3 && resolve())
    })
    await pause(15)
    return [joining]
  },
  'while instances start': async ({ ledger }) => {
    await ledger.group('starting', 3)
    await pause(250)
    return []
  },
  'while a group grows': async ({ ledger }) => {
    await ledger.scale('first', 5)
    await pause(150)
    return []
  },
  'while a group shrinks and its instances are busy': async ({ ledger }) => {
    await Promise.all([ledger.job(1500), ledger.job(1500)])
    await pause(600)
    await ledger.scale('first', 1)
    return []
  },
  'while a group is deleted': async ({ ledger }) => {
    await ledger.group('deleted', 2)
    await pause(1200)
    await ledger.removeGroup('deleted')
    return []
  },
}

describe('after kill -9 nothing that was promised is lost', () => {
  const folder = sharedFolder()
  let bench: Bench
  beforeAll(async () => {
    bench = await running(folder())
  }, 200_000)
  afterAll(() => bench?.platform.sweep())

  it.each(Object.entries(points))(
    '%s',
    async (_name, point) => {
      const underWay = await point(bench)
      await bench.platform.kill()
      await Promise.all(underWay)
      await bench.platform.start()
      await bench.ledger.completeLast()
      await bench.whole()
      await bench.ledger.job(0) // and it works
      for (const name of ['second', 'third', 'fourth', 'starting']) await bench.ledger.removeGroup(name)
      await bench.whole()
    },
    200_000,
  )

  it('while webhooks are called: the same message comes again', async () => {
    let behaviour: 'hang' | 200 = 'hang'
    const { url, calls } = await receiver({ behave: () => behaviour })
    await bench.ledger.job(0, url)
    await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(1)
    await bench.platform.kill()
    behaviour = 200
    await bench.platform.start()
    await expect.poll(() => calls.filter(({ status }) => status === 200).length, { timeout: 70_000 }).toBe(1)
    expect(new Set(calls.map(({ webhookId }) => webhookId)).size).toBe(1)
    await bench.whole()
  }, 200_000)

  it('and nothing is left in the end', async () => {
    expect(await bench.platform.stop()).toBe(0)
    expect(await bench.platform.descendants()).toEqual([])
  })

  it('at its first start, at any moment, and twice in a row', async () => {
    const platform = createPlatformProcess(await emptyFolder(), environment)
    onTestFinished(() => platform.sweep())
    for (const ms of [80, 200, 400, 700, 1000, 1500, 2200, 3000, 4000]) {
      platform.launch()
      await pause(ms)
      await platform.kill()
    }
    await platform.start()
    const ledger = createLedger(platform)
    expect(await ledger.queue()).toBe(true)
    expect(await ledger.group('first', 1)).toBe(true)
    expect(await ledger.job(0)).toBe(true)
    await expect.poll(() => ledger.faults(), { timeout: 60_000 }).toEqual([])
    for (const ms of [150, 500, 900]) {
      await platform.kill()
      platform.launch()
      await pause(ms)
    }
    await platform.kill()
    await platform.start()
    await expect.poll(() => ledger.faults(), { timeout: 60_000 }).toEqual([])
  }, 300_000)
})

describe('anything may happen when it is killed', () => {
  const postgres = sharedPostgres()
  const missing = postgresMissing()

  it('with its own database', () => killAnywhere(), 10 * 60_000)

  it.skipIf(missing)(
    `with PostgreSQL and workers that are processes${missing && `: ${missing}`}`,
    async () => {
      const times = { JOB_LEASE_S: '4', JOB_LEASE_RENEWAL_S: '1' }
      await killAnywhere({ DATABASE_URL: await postgres().database(), ...times })
    },
    10 * 60_000,
  )
})

async function killAnywhere(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const seed = seedOfRun(Date.now())
  process.stdout.write(`SEED=${seed}\n`)
  const random = createRandom(seed)
  const { platform, ledger, whole } = await running(await emptyFolder(), more)
  onTestFinished(() => platform.sweep())
  const { url, calls } = await receiver()
  const pick = (most: number) => Math.floor(random() * most)
  const deeds = [
    () => ledger.job(pick(100), url),
    () => ledger.job(pick(600), url),
    () => ledger.upload(`file-${pick(4)}`, 1 + pick(3_000_000)),
    () => ledger.removeFile(`file-${pick(4)}`),
    () => ledger.scale('first', 1 + pick(4)),
    () => ledger.multipart(`large-${pick(2)}`, 1 + pick(3)),
  ]
  for (let round = 0; round < 10; round++) {
    let isOver = false
    // One who does one thing after another, and some who give jobs meanwhile: no more than are done before the next round.
    const clients = [deeds, deeds.slice(0, 2), deeds.slice(0, 2)].map(async (mine) => {
      while (!isOver) {
        await mine[pick(mine.length)]!()
        await pause(20 + pick(60))
      }
    })
    await pause(200 + random() * 2500)
    await platform.kill()
    isOver = true
    await Promise.all(clients)
    if (random() < 0.4) {
      platform.launch()
      await pause(random() * 1500)
      await platform.kill()
    }
    await platform.start()
    await whole()
  }
  const told = () => new Set(calls.flatMap(({ body, status }) => (status === 200 ? [jobIn(body)] : [])))
  await expect
    .poll(() => [...ledger.jobs.keys()].filter((id) => !told().has(id)), { timeout: 90_000, interval: 250 })
    .toEqual([])
  const ids = new Map<unknown, Set<unknown>>()
  for (const { body, webhookId } of calls) ids.set(jobIn(body), (ids.get(jobIn(body)) ?? new Set()).add(webhookId))
  expect([...ids.values()].filter(({ size }) => size > 1)).toEqual([])
  expect(await platform.stop()).toBe(0)
  expect(await platform.descendants()).toEqual([])
  process.stdout.write(`${ledger.jobs.size} jobs, ${calls.length} calls\n`)
}

const jobIn = (body: Readonly<Record<string, unknown>> | undefined): unknown =>
  (body?.data as { readonly id?: string } | undefined)?.id
