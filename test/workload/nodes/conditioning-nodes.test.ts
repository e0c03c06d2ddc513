import { describe, expect, it } from 'vitest'
import type { Conditioning, ConditioningEntry } from '../../../src/workload/model/conditioning.ts'
import conditioningAverage from '../../../src/workload/nodes/conditioning-average.ts'
import conditioningCombine from '../../../src/workload/nodes/conditioning-combine.ts'
import conditioningConcat from '../../../src/workload/nodes/conditioning-concat.ts'
import conditioningSetArea from '../../../src/workload/nodes/conditioning-set-area.ts'
import conditioningSetAreaPercentage from '../../../src/workload/nodes/conditioning-set-area-percentage.ts'
import conditioningSetAreaStrength from '../../../src/workload/nodes/conditioning-set-area-strength.ts'
import conditioningSetMask from '../../../src/workload/nodes/conditioning-set-mask.ts'
import conditioningSetTimestepRange from '../../../src/workload/nodes/conditioning-set-timestep-range.ts'
import conditioningZeroOut from '../../../src/workload/nodes/conditioning-zero-out.ts'
import { filled, tensor } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf } from '../../support/node-room.ts'

const entry = (tokens: readonly number[], rest: Partial<ConditioningEntry> = {}): ConditioningEntry => ({
  context: tensor([1, tokens.length, 1], Float32Array.from(tokens)),
  ...rest,
})
const run = (node: AnyNode, values: Readonly<Record<string, unknown>>) => firstOf<Conditioning>(node, values)
const tokensOf = ([first]: Conditioning) => [...first!.context.data]
const pooled = (value: number) => tensor([1, 2], Float32Array.of(value, value))
const mask = filled([1, 4, 4], 1)
const conditioning = [entry([1, 2], { strength: 0.5 }), entry([3])]

describe('conditioning nodes', () => {
  it('put lists together', async () => {
    const [one, other] = [[entry([1])], [entry([2]), entry([3])]]
    expect(await run(conditioningCombine, { conditioning_1: one, conditioning_2: other })).toEqual([...one, ...other])
  })

  it('put the tokens of one text behind those of every other', async () => {
    const joined = await run(conditioningConcat, {
      conditioning_to: conditioning,
      conditioning_from: [entry([8, 9], { strength: 7 }), entry([5])],
    })
    expect(joined.map(({ context }) => [...context.data])).toEqual([
      [1, 2, 8, 9],
      [3, 8, 9],
    ])
    expect(joined[0]!.strength).toBe(0.5)
    const wide = [{ context: filled([1, 2, 4], 1) }]
    await expect(run(conditioningConcat, { conditioning_to: conditioning, conditioning_from: wide })).rejects.toThrow(
      'different text encoders: 1 and 4 numbers a token',
    )
    await expect(run(conditioningConcat, { conditioning_to: conditioning, conditioning_from: [] })).rejects.toThrow(
      'the conditioning is empty',
    )
  })

  it('mix texts token by token, to the length of the first', async () => {
    const mix = (to: ConditioningEntry, from: ConditioningEntry) =>
      run(conditioningAverage, {
        conditioning_to: [to],
        conditioning_from: [from],
        conditioning_to_strength: 0.75,
      })
    expect(tokensOf(await mix(entry([4, 8]), entry([0, 4, 100])))).toEqual([3, 7])
    expect(tokensOf(await mix(entry([4, 8]), entry([8])))).toEqual([5, 6])
    const [both] = await mix(entry([1], { pooled: pooled(4) }), entry([1], { pooled: pooled(8) }))
    const [own] = await mix(entry([1], { pooled: pooled(4) }), entry([1]))
    const [others] = await mix(entry([1]), entry([1], { pooled: pooled(8) }))
    expect([both, own, others].map((mixed) => mixed!.pooled!.data[0])).toEqual([5, 4, 8])
  })

  it('set where, when and how strongly every entry applies', async () => {
    const area = await run(conditioningSetArea, { conditioning, width: 100, height: 64, x: 8, y: 17, strength: 2 })
    const cells = { unit: 'cells', width: 12, height: 8, x: 1, y: 2 }
    expect(area.map((one) => [one.area, one.strength])).toEqual([
      [cells, 2],
      [cells, 2],
    ])
    const share = { width: 0.5, height: 0.25, x: 0.1, y: 0 }
    const shared = await run(conditioningSetAreaPercentage, { conditioning, ...share, strength: 3 })
    expect(shared[1]).toEqual({ ...conditioning[1], area: { unit: 'share', ...share }, strength: 3 })
    expect(await run(conditioningSetAreaStrength, { conditioning, strength: 4 })).toEqual(
      conditioning.map((one) => ({ ...one, strength: 4 })),
    )
    const [ranged] = await run(conditioningSetTimestepRange, { conditioning, start: 0.25, end: 0.5 })
    expect(ranged).toEqual({ ...conditioning[0], range: { start: 0.25, end: 0.5 } })
  })

  it('set a mask, whose bounds count until an area is set', async () => {
    const values = { conditioning, mask, strength: 0.5 }
    const [whole] = await run(conditioningSetMask, { ...values, set_cond_area: 'default' })
    expect(whole!.mask).toEqual({ mask, strength: 0.5, toBounds: false })
    const bounded = await run(conditioningSetMask, { ...values, set_cond_area: 'mask bounds' })
    expect(bounded[1]!.mask!.toBounds).toBe(true)
    const place = { width: 64, height: 64, x: 0, y: 0, strength: 1 }
    const [placed] = await run(conditioningSetArea, { conditioning: bounded, ...place })
    expect(placed!.mask).toEqual({ mask, strength: 0.5, toBounds: false })
  })

  it('replace a text by noughts', async () => {
    const zeroed = await run(conditioningZeroOut, { conditioning: [entry([1, 2], { pooled: pooled(3), strength: 2 })] })
    expect([tokensOf(zeroed), [...zeroed[0]!.pooled!.data], zeroed[0]!.strength]).toEqual([[0, 0], [0, 0], 2])
    expect((await run(conditioningZeroOut, { conditioning: [entry([1])] }))[0]!.pooled).toBeUndefined()
  })
})
