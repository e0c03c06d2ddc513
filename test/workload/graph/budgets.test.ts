import { describe, expect, it } from 'vitest'
import { createResultCache } from '../../../src/workload/graph/cache.ts'
import { execute } from '../../../src/workload/graph/execute.ts'
import type { RunContext } from '../../../src/workload/graph/node.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { chainOf, promptOf, toyNodes } from '../../support/toy-nodes.ts'

const host = { files: [] }

describe('large prompts', () => {
  it('validates 2,000 nodes in less than half a second', async () => {
    const widgets = { seed: 2n ** 63n, steps: '20', cfg: 7, text: 'a lake at dawn', flag: true, mode: 'euler' }
    const nodes = Array.from({ length: 1000 }, (_, i) => [
      [`w${i}`, ['Widgets', { ...widgets, text: i === 0 ? '' : [`w${i - 1}`, 0] }]] as const,
      [`s${i}`, ['Show', { value: [`w${i}`, 0] }]] as const,
    ])
    const prompt = promptOf(Object.fromEntries(nodes.flat()))
    const start = performance.now()
    const { outputs } = await validate(prompt, toyNodes, host)
    expect(performance.now() - start).toBeLessThan(500)
    expect(outputs).toHaveLength(1000)
  })

  it('validates and runs a chain of 10,000 nodes', async () => {
    const events: string[] = []
    const setting = {
      registry: toyNodes,
      cache: createResultCache({ maxBytes: 1e6, sizeOf: () => 1 }),
      contextFor: (run: RunContext) => ({ ...run, log: () => undefined }),
      signal: new AbortController().signal,
      pngInfo: undefined,
      onEvent: ({ kind }: { kind: string }) => events.push(kind),
    }
    const valid = await validate(chainOf(9_998), toyNodes, host)
    expect(await execute({ ...valid, ...setting })).toEqual([{ node: 'show', artifacts: [1] }])
    expect(events.filter((kind) => kind === 'finished')).toHaveLength(10_000)
    expect(await execute({ ...valid, ...setting })).toEqual([{ node: 'show', artifacts: [1] }])
    expect(events.filter((kind) => kind === 'cached')).toHaveLength(10_000)
  })

  it('keeps nothing of an output that was handed over', async () => {
    const told: unknown[] = []
    const setting = {
      registry: toyNodes,
      cache: createResultCache({ maxBytes: 0, sizeOf: () => 1 }),
      contextFor: (run: RunContext) => ({ ...run, log: () => undefined }),
      signal: new AbortController().signal,
      pngInfo: undefined,
      onEvent: () => undefined,
      onOutput: async (output: unknown) => void told.push(output),
    }
    const valid = await validate(chainOf(1), toyNodes, host)
    expect(await execute({ ...valid, ...setting })).toEqual([])
    expect(told).toEqual([{ node: 'show', artifacts: [1] }])
  })
})
