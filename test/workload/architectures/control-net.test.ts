import { describe, expect, it } from 'vitest'
import { controlNetGraph } from '../../../src/workload/architectures/control-net.ts'
import type { Lowering } from '../../../src/workload/architectures/lowering.ts'
import { unetGraph } from '../../../src/workload/architectures/unet.ts'
import { unionEmbedding, unionFeatures, unionKinds } from '../../../src/workload/architectures/union-control.ts'
import type { Wire } from '../../../src/workload/onnx/graph-builder.ts'
import { filled, mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { viewThrough } from '../../../src/workload/weights/weight-view.ts'
import { deviation, goldenInput, goldenModels, type Summary } from '../../support/golden-models.ts'
import { fileOf, lowerings, viewOfGolden } from '../../support/golden-views.ts'
import { referenceNetworks } from '../../support/reference-networks.ts'
import { sessionOf } from '../../support/runtime.ts'

const nothing = zeros([1, 1, 1, 1])
const hint = mapped(goldenInput('hint', [1, 3, 128, 192], 0.5), (value) => value + 0.5)
const kinds = [
  ['sd15', { contextWidth: 24, headsOf: () => 8 }, {}],
  ['sdxl', { contextWidth: 48, headsOf: (channels: number) => channels / 64 }, { y: goldenInput('y', [1, 96]) }],
] as const

describe.each(
  lowerings.flatMap(([device, lower, rewrite]) => kinds.map((kind) => [device, ...kind, lower, rewrite] as const)),
)('a control network %s of kind %s', (device, kind, { contextWidth, headsOf }, vector, lower, rewrite) => {
  const golden = goldenModels[`controlnet_${kind}`]!
  const common = {
    x: goldenInput('x', [1, 4, 16, 24]),
    timesteps: filled([1], 500),
    context: goldenInput('ctx', [1, 7, contextWidth]),
    ...vector,
  }

  it('gives the residuals of the reference, which steer the UNet as there', async () => {
    const view = await viewOfGolden(`controlnet_${kind}`)
    const control = await sessionOf(controlNetGraph(view, lower, { headsOf, averaged: false }), rewrite)
    const { middle, ...outputs } = await control.run({ ...common, hint })
    const wanted = golden.output as readonly Summary[]
    expect(Object.keys(outputs)).toHaveLength(wanted.length)
    expect(deviation(middle!, (golden.middle as readonly Summary[])[0]!)).toBeLessThan(2e-4)
    for (const [i, each] of wanted.entries()) expect(deviation(outputs[`output_${i}`]!, each)).toBeLessThan(2e-4)

    // What CUDA's operators make of large UNets without residuals is compared elsewhere.
    if (device === 'for CUDA' && kind === 'sdxl') return
    const unet = await viewOfGolden(`unet_${kind}`)
    const session = await sessionOf(unetGraph(unet, lower, headsOf, { control: true }), rewrite)
    const residuals = wanted.flatMap((_, i): [string, Tensor][] => [
      [`control_input_${i}`, nothing],
      [`control_output_${i}`, outputs[`output_${i}`]!],
    ])
    const steered = await session.run({ ...common, ...Object.fromEntries(residuals), control_middle: middle! })
    expect(deviation(steered.output!, golden.unet_with_control_strength1 as Summary)).toBeLessThan(2e-4)
  })
})

it('averages the residuals over the picture for networks that shuffle it', async () => {
  const view = await viewOfGolden('controlnet_sd15')
  const feeds = {
    x: goldenInput('x', [1, 4, 16, 24]),
    timesteps: filled([1], 500),
    context: goldenInput('ctx', [1, 7, 24]),
    hint,
  }
  const [[, lower]] = lowerings
  const plain = await (await sessionOf(controlNetGraph(view, lower, { headsOf: () => 8, averaged: false }))).run(feeds)
  const averaged = await (await sessionOf(controlNetGraph(view, lower, { headsOf: () => 8, averaged: true }))).run(
    feeds,
  )
  const { dims, data } = plain.output_3!
  const area = dims[2]! * dims[3]!
  const mean = (channel: number) => data.subarray(channel * area, (channel + 1) * area).reduce((a, b) => a + b) / area
  expect(averaged.output_3!.dims).toEqual(dims)
  expect([...averaged.output_3!.data]).toEqual([...data].map((_, i) => expect.closeTo(mean(Math.floor(i / area)), 5)))
})

describe.each(lowerings)('the layers of a union control network %s', (_device, lower, rewrite) => {
  it('give what PyTorch gives', async () => {
    const { keys, kind, fused, added } = referenceNetworks.union
    const file = await openSafetensors(await fileOf(keys))
    const names = [...file.tensors.keys()].map(
      (name) => [name === 'task_embedding' ? `${name}.weight` : name, name] as const,
    )
    const view = viewThrough(file, new Map(names))
    const onFeatures = async (rows: number, write: (lowering: Lowering, features: Wire) => Wire) => {
      const lowering = lower('union', view)
      const input = lowering.graph.input('features', ['N', 8, 'H', 'W'])
      const wire = write(lowering, lowering.fromImage(input))
      lowering.graph.output('result', wire, rows > 1 ? ['N', 8, 'H', 'W'] : ['N', 'E'])
      const session = await sessionOf(lowering.graph.finish(), rewrite)
      return (await session.run({ features: goldenInput('features', [rows, 8, 3, 5]) })).result!
    }
    const features = await onFeatures(2, (on, wire) => on.toImage(unionFeatures(on, wire, 8, kind)))
    expect(deviation(features, fused)).toBeLessThan(1e-5)
    const embedding = await onFeatures(1, (on) => on.toTokens(unionEmbedding(on, unionKinds(view), kind)))
    expect(deviation(embedding, added)).toBeLessThan(1e-5)
  })
})
