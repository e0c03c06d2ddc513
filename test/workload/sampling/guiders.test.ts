import { describe, expect, it } from 'vitest'
import type { GuidanceHook } from '../../../src/workload/model/guidance.ts'
import { createDualCfgGuider } from '../../../src/workload/sampling/dual-guidance.ts'
import { createBasicGuider, createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { createPerpendicularGuider, perpendicularHook } from '../../../src/workload/sampling/perpendicular-guidance.ts'
import { combined, scaled } from '../../../src/workload/tensor/tensor.ts'
import { createFlatModel, guessAt, text } from '../../support/flat-diffusion-model.ts'

const dims = [1, 1, 2, 2]
const first = ({ data }: { readonly data: Float32Array }) => data[0]

describe('the guider without negative', () => {
  it('takes the guess as it is and has none for samplers that ask for a negative', async () => {
    const { model, calls } = createFlatModel()
    const { denoised, negative } = await guessAt(createBasicGuider(model, [text(4)]), dims, 3, { asksNegative: true })
    expect([first(denoised), negative, calls.length]).toEqual([4, undefined, 1])
  })
})

describe('the guider with a negative', () => {
  const guided = async (cfg: number, asksNegative: boolean, hooks: readonly GuidanceHook[] = []) => {
    const { model, calls } = createFlatModel(hooks)
    const guider = createCfgGuider({ model, positive: [text(3)], negative: [text(1)], cfg })
    const { denoised, negative } = await guessAt(guider, dims, 3, { asksNegative })
    return [first(denoised), negative && first(negative), calls.map(({ texts }) => texts)]
  }

  it('asks the negative at cfg 1 only for samplers and hooks that need it', async () => {
    expect(await guided(1, false)).toEqual([3, undefined, [[3]]])
    expect(await guided(1, true)).toEqual([3, 1, [[1, 3]]])
    expect(await guided(1, false, [{ needsNegative: true }])).toEqual([3, 1, [[1, 3]]])
    expect(await guided(5, false)).toEqual([11, 1, [[1, 3]]])
  })

  it('lets hooks change the guesses, combine them, and change the result, in their order', async () => {
    const seen: unknown[] = []
    const hooks: GuidanceHook[] = [
      { combine: ({ x }) => x },
      {
        before: (guesses) => ({ ...guesses, negative: scaled(guesses.negative!, 2) }),
        after: (denoised) => combined([1, denoised], [1, denoised]),
      },
      { combine: ({ positive, negative, cfg }) => combined([cfg, positive], [10, negative!]) },
      {
        before: (guesses) => ({ ...guesses, negative: combined([1, guesses.negative!], [1, guesses.positive]) }),
        after(denoised, guesses) {
          seen.push(guesses.cfg, guesses.sigma, first(guesses.positive), first(guesses.negative!))
          return scaled(denoised, 0.5)
        },
      },
    ]
    expect((await guided(7, false, hooks)).slice(0, 2)).toEqual([7 * 3 + 10 * 5, 5])
    expect(seen).toEqual([7, 3, 3, 5])
  })
})

describe('the guider with two conditionings', () => {
  const guided = async (positiveCfg: number, middleCfg: number, nested = false, asksNegative = false) => {
    const { model, calls } = createFlatModel()
    const sides = { positive: [text(10)], middle: [text(4)], negative: [text(1)] }
    const guider = createDualCfgGuider({ model, ...sides, positiveCfg, middleCfg, nested })
    const { denoised, negative } = await guessAt(guider, dims, 3, { asksNegative })
    return [first(denoised), negative && first(negative), calls.map(({ texts }) => texts)]
  }

  it('goes from the negative to the second and from there to the first', async () => {
    expect(await guided(2, 3)).toEqual([1 + 3 * (4 - 1) + 2 * (10 - 4), 1, [[1, 4, 10]]])
  })

  it('leaves out what does not count', async () => {
    expect(await guided(2, 1)).toEqual([4 + 2 * (10 - 4), undefined, [[4, 10]]])
    expect(await guided(1, 1)).toEqual([10, undefined, [[10]]])
    expect(await guided(1, 1, false, true)).toEqual([10, 1, [[1, 4, 10]]])
  })

  it('nested, goes from the negative to what the others give', async () => {
    expect(await guided(2, 3, true)).toEqual([1 + 3 * (4 + 2 * (10 - 4) - 1), 4, [[1, 4, 10]]])
  })
})

describe('the guider with a perpendicular negative', () => {
  const [positive, negative, empty] = [[text(10)], [text(4)], [text(1)]]

  it('takes nothing away along the positive', async () => {
    const { model, calls } = createFlatModel()
    const guider = createPerpendicularGuider({ model, positive, negative, empty, cfg: 2, negativeScale: 5 })
    expect(first((await guessAt(guider, dims)).denoised)).toBeCloseTo(1 + 2 * (10 - 1), 4)
    expect(calls.map(({ texts }) => texts)).toEqual([[1, 4, 10]])
  })

  it('takes away what is perpendicular to it', async () => {
    const { model } = createFlatModel()
    const concat = (values: readonly number[]) => ({ concat: { latent: { dims, data: Float32Array.from(values) } } })
    const sides = {
      positive: [text(0, concat([1, 1, 0, 0]))],
      negative: [text(0, concat([3, 1, 2, 0]))],
      empty: [text(0, concat([0, 0, 0, 0]))],
    }
    const guider = createPerpendicularGuider({ model, ...sides, cfg: 2, negativeScale: 0.5 })
    expect([...(await guessAt(guider, dims)).denoised.data]).toEqual([1, 3, -2, 0])
    const { denoised } = await guessAt(createPerpendicularGuider({ model, ...sides, cfg: 1, negativeScale: 0 }), dims)
    expect([...denoised.data]).toEqual([1, 1, 0, 0])
  })

  it('may be a change to a model, which then asks for the empty text too', async () => {
    const { model, calls } = createFlatModel([perpendicularHook(empty, 5)])
    expect(first((await guessAt(createCfgGuider({ model, positive, negative, cfg: 2 }), dims)).denoised)).toBeCloseTo(
      19,
      4,
    )
    expect(calls.map(({ texts }) => texts)).toEqual([[4, 10, 1]])
    expect(first((await guessAt(createBasicGuider(model, positive), dims)).denoised)).toBeCloseTo(10, 4)
    const sides = { positive, middle: negative, negative: [text(1)] }
    const dual = createDualCfgGuider({ model, ...sides, positiveCfg: 2, middleCfg: 2, nested: false })
    expect(first((await guessAt(dual, dims)).denoised)).toBeCloseTo(1 + 2 * 3 + 2 * 6, 4)
  })
})
