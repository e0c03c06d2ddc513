import { describe, expect, it } from 'vitest'
import type { Conditioning } from '../../../src/workload/model/conditioning.ts'
import type { AppliedControl, ControlModel } from '../../../src/workload/model/control.ts'
import type { ModelInputs } from '../../../src/workload/model/ports.ts'
import { createCfgGuider } from '../../../src/workload/sampling/guidance.ts'
import { filled, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createFlatModel, guessAt, text } from '../../support/flat-diffusion-model.ts'

interface ControlCall {
  readonly dims: readonly number[]
  readonly timesteps: readonly number[]
  readonly inputs: ModelInputs
  readonly hint: Tensor
}

/** A control network that adds `value` behind the middle block and to the second skip connection. */
function createControl(value: number) {
  const calls: ControlCall[] = []
  const control: ControlModel = {
    hintScale: 2,
    async residuals(x, timesteps, inputs, hint) {
      calls.push({ dims: x.dims, timesteps, inputs, hint })
      const residual = filled([timesteps.length, 1, 1, 1], value)
      return { output: [undefined, residual], middle: residual }
    },
  }
  const applied = (rest: Partial<AppliedControl> = {}): AppliedControl => ({
    control,
    hint: zeros([1, 3, 4, 4]),
    strength: 1,
    range: { start: 0, end: 1 },
    alsoNegative: false,
    ...rest,
  })
  return { calls, applied }
}

const dims = [1, 1, 4, 8]

async function guess(positive: Conditioning, negative: Conditioning, sigma = 3, of = dims) {
  const { model, calls } = createFlatModel()
  const { denoised } = await guessAt(createCfgGuider({ model, positive, negative, cfg: 2 }), of, sigma)
  return { denoised, passes: calls.map((call) => ({ texts: call.texts, middle: call.control?.middle?.data[0] })) }
}

describe('control networks', () => {
  it('steer the entries that they hang on, those with equal ones in one pass', async () => {
    const applied = createControl(10).applied()
    const both = await guess([text(1, { controls: [applied] })], [text(0, { controls: [applied] })])
    expect(both.passes).toEqual([{ texts: [0, 1], middle: 10 }])
    const one = await guess([text(1, { controls: [applied] })], [text(0)])
    expect(one.passes).toEqual([
      { texts: [0], middle: undefined },
      { texts: [1], middle: 10 },
    ])
    expect(one.denoised.data[0]).toBe(22)
  })

  it('add up by their strengths', async () => {
    const [one, other] = [createControl(10), createControl(100)]
    const controls = [one.applied({ strength: 0.5 }), other.applied({ strength: 2 })]
    const { passes } = await guess([text(1, { controls })], [text(0, { controls })])
    expect(passes).toEqual([{ texts: [0, 1], middle: 205 }])
  })

  it('are asked as the network is, without the picture beside x', async () => {
    const { applied, calls } = createControl(0)
    const entry = text(1, { controls: [applied()], concat: { latent: zeros(dims) } })
    await guess([entry], [entry])
    const timestep = createFlatModel().model.sampling.timestep(3)
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ dims: [2, 1, 4, 8], timesteps: [timestep, timestep] })
    expect(Object.keys(calls[0]!.inputs)).toEqual(['context'])
  })

  it('see their hint at the size of what the network sees, cut to its aspect, one picture a row', async () => {
    const { applied, calls } = createControl(0)
    const pictures = tensor(
      [2, 3, 4, 4],
      Float32Array.from({ length: 96 }, (_, i) => Math.floor(i / 48)),
    )
    const entry = text(1, { controls: [applied({ hint: pictures })] })
    await guess([entry], [entry], 3, [3, 1, 4, 8])
    const { hint } = calls[0]!
    expect(hint.dims).toEqual([6, 3, 8, 16])
    expect([0, 1, 2, 3, 4, 5].map((row) => hint.data[row * 384])).toEqual([0, 1, 0, 0, 1, 0])

    const rising = tensor(
      [1, 3, 4, 4],
      Float32Array.from({ length: 48 }, (_, i) => Math.floor(i / 4) % 4),
    )
    await guess([text(1, { controls: [applied({ hint: rising })] })], [text(0)])
    expect([0, 3, 4, 7].map((line) => calls.at(-1)!.hint.data[line * 16])).toEqual([1, 1, 2, 2])
  })

  it('rest outside their part of the run, where entries share a pass again', async () => {
    const { applied, calls } = createControl(10)
    const { sampling } = createFlatModel().model
    const [start, end] = [sampling.percentToSigma(0.3), sampling.percentToSigma(0.5)]
    const entry = text(1, { controls: [applied({ range: { start: 0.3, end: 0.5 } })] })
    const passes = async (sigma: number) => (await guess([entry], [text(0)], sigma)).passes
    const apart = [
      { texts: [0], middle: undefined },
      { texts: [1], middle: 10 },
    ]
    const together = [{ texts: [0, 1], middle: undefined }]
    expect(await Promise.all([start * 1.01, start, end, end * 0.99].map(passes))).toEqual([
      together,
      apart,
      apart,
      together,
    ])
    expect(calls).toHaveLength(2)
  })

  it('steer the negative as well where they are made to and it has none of its own', async () => {
    const [{ applied }, other] = [createControl(10), createControl(5)]
    const positive = [text(1, { controls: [applied({ alsoNegative: true })] })]
    expect((await guess(positive, [text(0)])).passes).toEqual([{ texts: [0, 1], middle: 10 }])
    expect((await guess(positive, [text(0), text(2)])).passes).toEqual([
      { texts: [0, 1], middle: 10 },
      { texts: [2], middle: undefined },
    ])
    const own = text(0, { controls: [other.applied()] })
    expect((await guess(positive, [own])).passes).toEqual([
      { texts: [0], middle: 5 },
      { texts: [1], middle: 10 },
    ])
  })
})
