import { stdout } from 'node:process'
import { expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../../test/support/folder.ts'
import { postgresMissing, sharedPostgres } from '../../test/support/postgres.ts'
import { redisMissing, startRedis } from '../../test/support/redis.ts'
import { type PlatformChaosOptions, runPlatformChaos } from './platform-chaos.ts'
import { seedOfRun } from './random.ts'

const LIMIT_MS = 8 * 60_000
const postgres = sharedPostgres()
const missing = postgresMissing() || redisMissing() || ''

/** `npm run chaos:platform`; the same dice again by `SEED`. */
async function doesAll(environment: PlatformChaosOptions['environment'] = {}) {
  const seed = seedOfRun(Date.now())
  const say = (line: string) => void stdout.write(`${line}\n`)
  say(`SEED=${seed}`)
  const counts = await runPlatformChaos({
    ...{ jobs: 100, backlog: 8, side: 192, steps: 10, limitMs: LIMIT_MS },
    ...{ mostKills: 25, killPaceMs: 1500 },
    ...{ seed, environment, say },
  })
  for (const [name, value] of Object.entries(counts)) say(`${name.padEnd(16)} ${JSON.stringify(value)}`)
  expect(counts).toMatchObject({
    ...{ jobs: 100, succeeded: 100, pictures: 100, unsettled: 0, lost: 0, surplus: 0, disordered: 0 },
    ...{ untold: 0, misaddressed: 0, manyIds: 0, strange: [], running: 3, containers: 3, left: 0, exitCode: 0 },
  })
  expect(counts.kills).toBeGreaterThan(5)
  expect(Math.max(...Object.keys(counts.attempts).map(Number))).toBeLessThanOrEqual(4)
}

it('does 100 jobs of a queue, whichever instances are killed', () => doesAll(), LIMIT_MS + 60_000)

it.skipIf(missing)(
  `does them with PostgreSQL, Redis and workers that are processes${missing && `: ${missing}`}`,
  async () => {
    const redis = await startRedis({ folder: await emptyFolder(), appendonly: true })
    onTestFinished(() => redis.stop('SIGKILL'))
    await doesAll({ DATABASE_URL: await postgres().database(), REDIS_URL: redis.url })
  },
  LIMIT_MS + 60_000,
)
