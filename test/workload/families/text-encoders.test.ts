import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { clipTextGraph, readClipTextConfig } from '../../../src/workload/architectures/clip-text.ts'
import { textEncoderLowering } from '../../../src/workload/architectures/lowerings.ts'
import {
  createRefinerTextEncoder,
  createSd1TextEncoder,
  createSd2TextEncoder,
  createSdxlTextEncoder,
} from '../../../src/workload/families/support/clip-text-encoder.ts'
import { loadClipTokenizer } from '../../../src/workload/families/support/clip-tokenizer.ts'
import type { FamilyServices } from '../../../src/workload/families/support/family.ts'
import { createFamilyServices } from '../../../src/workload/families/support/services.ts'
import { textWeightsOf } from '../../../src/workload/families/support/text-weights.ts'
import type { PromptText, TextEncoder } from '../../../src/workload/model/ports.ts'
import type { Tensors } from '../../../src/workload/runtime/session.ts'
import { joinedAlong, slicedAlong } from '../../../src/workload/tensor/axes.ts'
import { filled, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { clipTextView } from '../../../src/workload/weights/checkpoint-layout.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import type { WeightView } from '../../../src/workload/weights/weight-view.ts'
import { sharedFolder } from '../../support/folder.ts'
import { clipShapes, openClipShapes } from '../../support/network-shapes.ts'
import { randomWeights, type Weights } from '../../support/random-checkpoints.ts'
import { cpuRuntime, sessionOf } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

const small = { width: 32, layers: 3 }
const large = { width: 64, layers: 3, projected: 48 }

const root = sharedFolder()
let services: FamilyServices
let l: WeightView
let g: WeightView

/** The text transformer of `weights`, as a file of its own. */
async function viewOf(name: string, weights: Weights): Promise<WeightView> {
  const file = await openSafetensors(await writeSafetensors(join(root(), `${name}.safetensors`), weights))
  return clipTextView(file, '')!
}

beforeAll(async () => {
  const embeddings = join(root(), 'embeddings')
  await mkdir(embeddings)
  await writeSafetensors(join(embeddings, 'uneven.safetensors'), {
    clip_l: filled([80, small.width], 0.3),
    clip_g: filled([2, large.width], 0.3),
  })
  await writeSafetensors(join(embeddings, 'foreign.safetensors'), { emb_params: filled([2, 7], 0.3) })
  services = createFamilyServices(
    await cpuRuntime(),
    {
      names: ['embeddings'],
      list: async () => ['foreign.safetensors', 'uneven.safetensors'],
      find: async (_folder, name) => join(embeddings, name),
    },
    silentLog,
  )
  l = await viewOf('l', randomWeights(clipShapes(small)))
  g = await viewOf('g', randomWeights(openClipShapes(large)))
})

const { tokenize } = await loadClipTokenizer()

/** What the transformer makes of a short text, run without anything between: every layer's state by its place. */
async function statesOf(view: WeightView, text: string, pad: number, activation: 'quickGelu' | 'gelu') {
  const { layers, width } = readClipTextConfig(view)
  const words = [49406, ...tokenize(text), 49407]
  const session = await sessionOf(clipTextGraph(view, textEncoderLowering, { heads: 1, activation }))
  const at = async (layer: number): Promise<Tensors> =>
    session.run({
      ids: tensor(
        [1, 77],
        Float32Array.from({ length: 77 }, (_, i) => words[i] ?? pad),
      ),
      vectors: zeros([1, 77, width]),
      kept: filled([1, 77, 1], 1),
      layer: oneAt(layers, layer),
      end: oneAt(77, words.length - 1),
    })
  return { last: await at(layers - 1), before: await at(layers - 2) }
}

const oneAt = (length: number, place: number) =>
  tensor(
    [1, length],
    Float32Array.from({ length }, (_, i) => Number(i === place)),
  )
const encoded = async (encoder: TextEncoder, text: PromptText) => (await encoder.encode(text))[0]!
const worst = (a: Tensor, b: Tensor) => {
  expect(a.dims).toEqual(b.dims)
  return Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
}
const beside = (a: Tensor, b: Tensor) => joinedAlong([a, b], 2)
const text = 'a red house'

describe('the text encoder of Stable Diffusion 1', () => {
  it('gives the last layer behind the final norm, and the pooled vector as it is', async () => {
    const { last, before } = await statesOf(l, text, 49407, 'quickGelu')
    const encoder = createSd1TextEncoder({ key: 'sd1', view: l }, services)
    const { context, pooled } = await encoded(encoder, text)
    expect(worst(context, last.normed!)).toBeLessThan(1e-5)
    expect(worst(pooled!, last.pooled!)).toBeLessThan(1e-5)
    expect(worst((await encoded(encoder.stoppingAt(-1), text)).context, last.normed!)).toBeLessThan(1e-5)
    expect(worst((await encoded(encoder.stoppingAt(-2), text)).context, before.normed!)).toBeLessThan(1e-5)
    expect(worst((await encoded(encoder.stoppingAt(-4), text)).context, last.normed!)).toBeLessThan(1e-5)
  })

  it('takes one text only', async () => {
    const encoder = createSd1TextEncoder({ key: 'sd1', view: l }, services)
    await expect(encoder.encode({ l: text, g: text })).rejects.toMatchObject({ code: 'execution-failed' })
  })
})

describe('the text encoder of Stable Diffusion 2', () => {
  it('gives the layer before the last behind the final norm, and the projected vector', async () => {
    const { last, before } = await statesOf(g, text, 0, 'gelu')
    const encoder = createSd2TextEncoder({ key: 'sd2', view: g }, services)
    const { context, pooled } = await encoded(encoder, text)
    expect(worst(context, before.normed!)).toBeLessThan(1e-5)
    expect(worst(pooled!, last.projected!)).toBeLessThan(1e-5)
    expect(worst((await encoded(encoder.stoppingAt(-1), text)).context, last.normed!)).toBeLessThan(1e-5)
  })

  it('counts from the layer that files in the layout of diffusers leave out', async () => {
    const view = await viewOf('short', randomWeights(clipShapes({ width: 32, layers: 23 })))
    const { last, before } = await statesOf(view, text, 0, 'gelu')
    const encoder = createSd2TextEncoder({ key: 'short', view }, services)
    expect(worst((await encoded(encoder, text)).context, last.normed!)).toBeLessThan(1e-4)
    expect(worst((await encoded(encoder.stoppingAt(-3), text)).context, before.normed!)).toBeLessThan(1e-4)
  })
})

describe('the text encoders of SDXL', () => {
  const sdxl = () => createSdxlTextEncoder({ l: { key: 'xl', view: l }, g: { key: 'xl', view: g } }, services)

  it('stand side by side, each at the layer before its last as it is, with the projected vector of the larger', async () => {
    const [ofL, ofG] = [await statesOf(l, text, 49407, 'quickGelu'), await statesOf(g, text, 0, 'gelu')]
    const { context, pooled } = await encoded(sdxl(), text)
    expect(worst(context, beside(ofL.before.hidden!, ofG.before.hidden!))).toBeLessThan(1e-5)
    expect(worst(pooled!, ofG.last.projected!)).toBeLessThan(1e-5)
    const last = await encoded(sdxl().stoppingAt(-1), text)
    expect(worst(last.context, beside(ofL.last.hidden!, ofG.last.hidden!))).toBeLessThan(1e-5)
    const beyond = await encoded(sdxl().stoppingAt(-4), text)
    expect(worst(beyond.context, beside(ofL.last.normed!, ofG.last.normed!))).toBeLessThan(1e-5)
  })

  it('read a text each', async () => {
    const [both, one, other] = [
      await encoded(sdxl(), { l: 'a red house', g: 'the sea' }),
      await encoded(sdxl(), 'a red house'),
      await encoded(sdxl(), 'the sea'),
    ]
    const part = (t: Tensor, from: number, to: number) => slicedAlong(t, 2, from, to)
    expect(worst(part(both.context, 0, 32), part(one.context, 0, 32))).toBeLessThan(1e-5)
    expect(worst(part(both.context, 32, 96), part(other.context, 32, 96))).toBeLessThan(1e-5)
    expect(worst(both.pooled!, other.pooled!)).toBeLessThan(1e-5)
  })

  it('are cut to the shorter for one text, and filled up with empty prompts for two', async () => {
    const uneven = 'embedding:uneven'
    const cut = await encoded(sdxl(), uneven)
    const filledUp = await encoded(sdxl(), { l: uneven, g: uneven })
    expect([cut.context.dims, filledUp.context.dims]).toEqual([
      [1, 77, 96],
      [1, 154, 96],
    ])
    const empty = await statesOf(g, '', 0, 'gelu')
    const behind = slicedAlong(slicedAlong(filledUp.context, 1, 77, 154), 2, 32, 96)
    expect(worst(behind, empty.before.hidden!)).toBeLessThan(1e-5)
  })

  it('leave out vectors that are as wide as neither', async () => {
    const [foreign, plain] = [await encoded(sdxl(), 'embedding:foreign a house'), await encoded(sdxl(), 'a house')]
    expect(worst(foreign.context, plain.context)).toBeLessThan(1e-5)
  })

  it('move weighted tokens away from their own empty prompts', async () => {
    const [heavy, plain, empty] = await Promise.all(['(house:1.5)', 'house', ''].map((each) => encoded(sdxl(), each)))
    const moved = plain!.context.data.map((value, i) => {
      const origin = empty!.context.data[i]!
      return Math.floor(i / 96) === 1 ? (value - origin) * 1.5 + origin : value
    })
    expect(worst(heavy!.context, tensor([1, 77, 96], moved))).toBeLessThan(1e-4)
    expect(worst(heavy!.pooled!, plain!.pooled!)).toBeLessThan(1e-5)
  })
})

it("the refiner's text encoder gives the larger half of SDXL's", async () => {
  const { before, last } = await statesOf(g, text, 0, 'gelu')
  const { context, pooled } = await encoded(createRefinerTextEncoder({ key: 'refiner', view: g }, services), text)
  expect(worst(context, before.hidden!)).toBeLessThan(1e-5)
  expect(worst(pooled!, last.projected!)).toBeLessThan(1e-5)
})

it.each([
  [12, 'l'],
  [23, 'h'],
  [24, 'h'],
  [32, 'g'],
] as const)('a file of %i layers holds %s, in both layouts', async (layers, size) => {
  const thin = { width: 2, layers }
  for (const [layout, shapes] of Object.entries({ hf: clipShapes(thin), open: openClipShapes(thin) })) {
    const path = join(root(), `${layout}-${layers}.safetensors`)
    const file = await openSafetensors(await writeSafetensors(path, randomWeights(shapes, 'clip.')))
    expect(Object.keys(textWeightsOf(file, 'clip.'))).toEqual([size])
    expect(textWeightsOf(file, 'other.')).toEqual({})
  }
})
