import { describe, expect, it } from 'vitest'
import { runChaos } from '../../tools/chaos/chaos.ts'
import { redisMissing } from '../support/redis.ts'

describe.skipIf(redisMissing() !== undefined)('two workloads and one Redis', () => {
  it('lose no prompt while they are killed, receivers fail and the store refuses', async () => {
    const counts = await runChaos({
      ...{ prompts: 40, workloads: 2, kills: 2, redisRestarts: 1, limitMs: 100_000, paceMs: 150, seed: 7 },
      say: () => undefined,
    })
    expect(counts).toMatchObject({ untold: 0, contradicted: 0, misaddressed: 0, missingFiles: 0 })
    expect(counts.completed + counts.failed).toBe(40)
    expect(counts.leftInSpool).toBe(counts.keptBack)
    expect(counts.exitCodes).toEqual([0, 0])
  }, 120_000)
})
