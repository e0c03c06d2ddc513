import { describe, expect, it } from 'vitest'
import { createBrownianNoise, createBrownianTree } from '../../../src/workload/sampling/brownian-tree.ts'
import { seedSequence } from '../../../src/workload/sampling/seed-sequence.ts'
import { readGoldens } from '../../support/goldens.ts'

const goldens = readGoldens<{
  readonly seed_sequence: readonly {
    readonly entropy: string
    readonly spawn_key: readonly string[]
    readonly pool_size: number
    readonly words: readonly number[]
  }[]
  readonly brownian_tree: {
    readonly entropy: string
    readonly shape: readonly number[]
    readonly t0: number
    readonly t1: number
    readonly queries: readonly { a: number; b: number; first8: readonly number[]; normalised_std: number }[]
  }
}>('golden_noise')

describe('seed sequences', () => {
  it.each(goldens.seed_sequence)('spread entropy $entropy at $spawn_key as numpy does', (reference) => {
    const { entropy, spawn_key, pool_size, words } = reference
    expect(seedSequence(BigInt(entropy), spawn_key.map(BigInt), pool_size, words.length)).toEqual(words)
  })
})

describe('the Brownian tree', () => {
  const { entropy, shape, t0, t1, queries } = goldens.brownian_tree
  const create = () => createBrownianTree(shape, Math.fround(t0), Math.fround(t1), BigInt(entropy))
  const deviation = (values: Float32Array) => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
  }

  it.each([
    ['in order', queries],
    ['backwards', queries.toReversed()],
  ])('gives the reference increments when asked %s', (_order, asked) => {
    const increment = create()
    for (const { a, b, first8, normalised_std } of asked) {
      const { data } = increment(a, b)
      for (const [i, value] of first8.entries()) expect(Math.abs(data[i]! - value)).toBeLessThan(2e-6)
      expect(Math.abs(deviation(data) / Math.sqrt(b - a) - normalised_std)).toBeLessThan(2e-6)
    }
  })

  it('adds up: neighbouring increments sum to that over both', () => {
    const increment = create()
    const [left, right, both] = [increment(1, 2.5), increment(2.5, 7), increment(1, 7)]
    expect([...both.data]).toEqual([...left.data].map((value, i) => expect.closeTo(value + right.data[i]!, 4)))
  })

  it('gives steps noise of variance 1 that does not depend on the steps before', () => {
    const sigmas = Float32Array.of(14, 7, 3, 1, 0)
    const noise = createBrownianNoise([1, 4, 32, 32], sigmas, 9n)
    const later = createBrownianNoise([1, 4, 32, 32], sigmas, 9n)
    const third = noise(3, 1)
    later(14, 7)
    later(7, 3)
    expect(later(3, 1)).toEqual(third)
    expect(deviation(third.data)).toBeCloseTo(1, 1)
  })
})
