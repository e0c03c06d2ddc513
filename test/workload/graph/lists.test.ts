import { describe, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { createResultCache } from '../../../src/workload/graph/cache.ts'
import { execute } from '../../../src/workload/graph/execute.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { promptOf, toyNodes } from '../../support/toy-nodes.ts'

/** What the output `s` of `prompt` emits. */
async function artifactsOf(prompt: Prompt): Promise<readonly unknown[]> {
  const emitted = await execute({
    ...(await validate(prompt, toyNodes, { files: [] })),
    registry: toyNodes,
    cache: createResultCache({ maxBytes: 1e6, sizeOf: () => 1 }),
    contextFor: (run) => ({ ...run, log: () => undefined }),
    signal: new AbortController().signal,
    pngInfo: undefined,
    onEvent: () => undefined,
  })
  return emitted.find(({ node }) => node === 's')!.artifacts
}

describe('lists', () => {
  const split = (count: number) => ['Split', { count }] as const
  const sum = (inputs: Readonly<Record<string, unknown>>) => ['Sum', { scale: 1, ...inputs }] as const

  it('flow on one by one', async () => {
    const prompt = promptOf({ l: split(3), s: ['Show', { value: ['l', 0], label: 'item' }] })
    expect(await artifactsOf(prompt)).toEqual(['item: 0', 'item: 1', 'item: 2'])
    expect(await artifactsOf(promptOf({ l: split(3), s: ['Show', { value: ['l', 1] }] }))).toEqual([3])
  })

  it('are met element by element, the last one standing in where one list is shorter', async () => {
    const prompt = promptOf({
      long: split(4),
      short: split(2),
      add: ['Add', { a: ['long', 0], b: ['short', 0] }],
      s: ['Show', { value: ['add', 0] }],
    })
    expect(await artifactsOf(prompt)).toEqual([0, 2, 3, 4])
  })

  it('of several calls become one', async () => {
    const prompt = promptOf({
      l: split(3),
      again: ['Split', { count: ['count', 0] }],
      count: ['Anything', { value: ['l', 0] }],
      s: ['Show', { value: ['again', 0] }],
    })
    expect(await artifactsOf(prompt)).toEqual([0, 0, 1])
  })

  it('reach a node that takes lists as they are, in one call', async () => {
    const whole = promptOf({
      l: split(4),
      sum: sum({ items: ['l', 0], scale: 10 }),
      s: ['Show', { value: ['sum', 0] }],
    })
    expect(await artifactsOf(whole)).toEqual([60])
    const more = promptOf({
      l: split(4),
      sum: sum({ items: ['l', 0], more: ['l', 0] }),
      s: ['Show', { value: ['sum', 0] }],
    })
    expect(await artifactsOf(more)).toEqual([10])
  })

  it('without elements give no call, unless the node takes lists or could do without', async () => {
    const empty = (node: readonly [string, Readonly<Record<string, unknown>>]) =>
      artifactsOf(promptOf({ l: split(0), m: split(3), n: node, s: ['Show', { value: ['n', 0], label: 'x' }] }))
    expect(await empty(['Add', { a: ['l', 0], b: ['m', 0] }])).toEqual([])
    expect(await empty(sum({ items: ['l', 0] }))).toEqual(['x: 0'])
    expect(await empty(['Add', { a: ['m', 0], b: ['l', 0] }])).toEqual(['x: 0', 'x: 1', 'x: 2'])
  })
})
