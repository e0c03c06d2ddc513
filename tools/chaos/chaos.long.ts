import { stdout } from 'node:process'
import { expect, it } from 'vitest'
import { runChaos } from './chaos.ts'

/** `npm run chaos`; other dice by `SEED`. */
it(
  'loses none of 500 prompts, whatever is killed',
  async () => {
    const counts = await runChaos({
      ...{ prompts: 500, workloads: 2, kills: 20, redisRestarts: 3, limitMs: 20 * 60_000, paceMs: 130 },
      seed: Number(process.env.SEED ?? 1),
      say: (line) => void stdout.write(`${line}\n`),
    })
    for (const [name, value] of Object.entries(counts)) stdout.write(`${name.padEnd(16)} ${String(value)}\n`)
    expect(counts).toMatchObject({ untold: 0, contradicted: 0, misaddressed: 0, missingFiles: 0 })
    expect(counts.completed + counts.failed).toBe(500)
    expect(counts.leftInSpool).toBe(counts.keptBack)
  },
  30 * 60_000,
)
