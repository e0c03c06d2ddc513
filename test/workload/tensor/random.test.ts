import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { fma } from '../../../src/workload/tensor/vector-math.ts'
import { readGoldens } from '../../support/goldens.ts'

interface Draw {
  readonly seed: string
  readonly shape: readonly number[]
  readonly values?: readonly number[]
  readonly first?: readonly number[]
  readonly last?: readonly number[]
  readonly sum?: number
}

const goldens = readGoldens<{
  readonly randn_f32: readonly Draw[]
  readonly sequence: { readonly seed: string; readonly draws: readonly { n: number; values: readonly number[] }[] }
  readonly randn_f64: { readonly seed: string; readonly shape: readonly number[]; readonly values: readonly number[] }
  readonly randint: { readonly seed: string; low: number; high: number; readonly values: readonly number[] }
}>('golden_noise')

describe('the random generator', () => {
  it.each(goldens.randn_f32.map((draw) => [draw.seed, draw.shape, draw] as const))(
    'draws the noise of torch, bit for bit: seed %s, shape %j',
    (seed, shape, { values, first, last, sum }) => {
      const drawn = [...createGenerator(BigInt(seed)).randn(shape).data]
      const head = values ?? first!
      expect(drawn.slice(0, head.length)).toEqual(head)
      if (last) expect(drawn.slice(-last.length)).toEqual(last)
      if (sum !== undefined) expect(Math.abs(drawn.reduce((all, value) => all + value, 0) - sum)).toBeLessThan(1e-4)
    },
  )

  it('goes on where the last draw ended, also when a pair was used by half', () => {
    const generator = createGenerator(BigInt(goldens.sequence.seed))
    for (const { n, values } of goldens.sequence.draws) expect([...generator.randn([n]).data]).toEqual(values)
  })

  it('draws double-precision noise', () => {
    const { seed, values } = goldens.randn_f64
    const drawn = createGenerator(BigInt(seed)).randnDouble(values.length)
    const worst = Math.max(...values.map((value, i) => Math.abs(value - drawn[i]!)))
    expect(worst).toBeLessThan(1e-14)
  })

  it('draws whole numbers', () => {
    const { seed, low, high, values } = goldens.randint
    const generator = createGenerator(BigInt(seed))
    expect(values.map(() => generator.randint(low, high))).toEqual(values)
  })

  it('tells seeds apart by their low 32 bits only', () => {
    const draw = (seed: bigint) => [...createGenerator(seed).randn([64]).data]
    expect(draw(5n + (1n << 32n))).toEqual(draw(5n))
    expect(draw(6n)).not.toEqual(draw(5n))
  })

  it('fills latents of a 1024-pixel image in milliseconds', () => {
    const times = Array.from({ length: 10 }, (_, seed) => {
      const start = performance.now()
      createGenerator(seed).randn([1, 4, 128, 128])
      return performance.now() - start
    })
    expect(Math.min(...times)).toBeLessThan(15)
  })
})

describe('fma', () => {
  /** a·b + c as a whole number of 2⁻¹⁸⁰ and rounded to nearest even by hand. */
  const exactly = (a: number, b: number, c: number): number => {
    const fraction = (value: number) => BigInt(value * 2 ** 60)
    const sum = fraction(a) * fraction(b) + fraction(c) * (1n << 60n)
    const [sign, magnitude] = sum < 0n ? [-1, -sum] : [1, sum]
    const drop = Math.max(magnitude.toString(2).length - 24, 0)
    let kept = magnitude >> BigInt(drop)
    const rest = magnitude - (kept << BigInt(drop))
    const half = drop > 0 ? 1n << BigInt(drop - 1) : 1n
    if (rest > half || (rest === half && kept % 2n === 1n)) kept += 1n
    return sign * Number(kept) * 2 ** (drop - 120)
  }
  const small = fc.integer({ min: -(2 ** 24), max: 2 ** 24 }).map((k) => k / 2 ** 24)

  it('rounds once', () => {
    fc.assert(
      fc.property(small, small, small, (a, b, c) => {
        expect(fma(a, b, c) + 0).toBe(exactly(a, b, c) + 0)
      }),
      { numRuns: 2000 },
    )
  })

  it('rounds once where rounding to double first would make a tie of what is none', () => {
    const [a, b] = [1 + 2 ** -23, 1 - 2 ** -23]
    expect(fma(a, b * 2 ** -24, 1 + 2 ** -23)).toBe(1 + 2 ** -23)
    expect(fma(a, -b * 2 ** -25, 1 - 2 ** -24)).toBe(1 - 2 ** -24)
  })
})
