import { describe, expect, it } from 'vitest'
import { decoderGraph, encoderGraph } from '../../../src/workload/architectures/autoencoder-kl.ts'
import { clipTextGraph } from '../../../src/workload/architectures/clip-text.ts'
import type { LoweringFor } from '../../../src/workload/architectures/lowering.ts'
import { cpuLowering } from '../../../src/workload/architectures/lowering-cpu.ts'
import { unetGraph } from '../../../src/workload/architectures/unet.ts'
import { filled, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { clipTextView } from '../../../src/workload/weights/checkpoint-layout.ts'
import { deviation, goldenInput, goldenModels, type Summary } from '../../support/golden-models.ts'
import { fileOfGolden, lowerings, viewOfGolden } from '../../support/golden-views.ts'
import { sessionOf } from '../../support/runtime.ts'

describe.each(
  lowerings.flatMap(([device, lower, rewrite]) => [
    ['unet_sd15', device, lower, rewrite, () => 8] as const,
    ['unet_sdxl', device, lower, rewrite, (channels: number) => channels / 64] as const,
  ]),
)('%s %s', (name, _device, lower, rewrite, headsOf) => {
  it.each([
    ['out_t500_16x24', 500, [1, 4, 16, 24]],
    ['out_t3_13x11', 3, [1, 4, 13, 11]],
  ] as const)('agrees with the reference: %s', async (result, timestep, dims) => {
    const view = await viewOfGolden(name)
    const width = view.get(view.names.find((key) => key.endsWith('attn2.to_k.weight'))!).dims[1]!
    const session = await sessionOf(unetGraph(view, lower, headsOf), rewrite)
    const { output } = await session.run({
      x: goldenInput('x', dims),
      timesteps: filled([1], timestep),
      context: goldenInput('ctx', [1, 7, width]),
      ...(name === 'unet_sdxl' && { y: goldenInput('y', [1, 96]) }),
    })
    expect(deviation(output!, goldenModels[name]![result] as Summary)).toBeLessThan(2e-4)
  })
})

it.each([
  ['of linear layers', { stored: 'linear' }],
  ['of all layers', { stored: 'all' }],
  ['of no layers, which have slots', { slots: (key: string) => key.includes('transformer_blocks') }],
] as const)('agrees with the reference when weights %s stay as they are stored', async (_which, options) => {
  const view = await viewOfGolden('unet_sdxl')
  const lower: LoweringFor = (name, of) => cpuLowering(name, of, options)
  const { output } = await (await sessionOf(unetGraph(view, lower, (channels) => channels / 64))).run({
    x: goldenInput('x', [1, 4, 16, 24]),
    timesteps: filled([1], 500),
    context: goldenInput('ctx', [
      1,
      7,
      view.get(view.names.find((key) => key.endsWith('attn2.to_k.weight'))!).dims[1]!,
    ]),
    y: goldenInput('y', [1, 96]),
  })
  expect(deviation(output!, goldenModels.unet_sdxl!.out_t500_16x24 as Summary)).toBeLessThan(2e-4)
})

describe.each(lowerings)('autoencoder %s', (_device, lower, rewrite) => {
  it('encodes as the reference', async () => {
    const session = await sessionOf(encoderGraph(await viewOfGolden('vae'), lower), rewrite)
    const { moments } = await session.run({ pixels: goldenInput('px', [1, 3, 64, 48], 0.5) })
    const mean = tensor([1, 4, 8, 6], moments!.data.slice(0, 4 * 8 * 6))
    expect(deviation(mean, goldenModels.vae!.encode_mean as Summary)).toBeLessThan(2e-4)
  })

  it('decodes as the reference', async () => {
    const session = await sessionOf(decoderGraph(await viewOfGolden('vae'), lower), rewrite)
    const { decoded } = await session.run({ latents: goldenInput('z', [1, 4, 8, 6]) })
    expect(deviation(decoded!, goldenModels.vae!.decode as Summary)).toBeLessThan(1e-3)
  })
})

describe.each([
  ['clip_quick_gelu', 'quickGelu'],
  ['clip_gelu', 'gelu'],
] as const)('%s', (name, activation) => {
  it.each([
    ['last_ln', 'normed', 2],
    ['penultimate_noln', 'hidden', 1],
    ['penultimate_ln', 'normed', 1],
    ['pooled_unprojected', 'pooled', 2],
    ['pooled_projected', 'projected', 2],
  ] as const)('agrees with the reference: %s', async (result, output, layer) => {
    const golden = goldenModels[name]!
    const view = clipTextView(await fileOfGolden(name), '')!
    const session = await sessionOf(clipTextGraph(view, cpuLowering, { heads: 4, activation }))
    const outputs = await session.run({
      ids: tensor([1, 77], Float32Array.from(golden.ids as number[])),
      vectors: zeros([1, 77, 64]),
      kept: filled([1, 77, 1], 1),
      layer: tensor(
        [1, 3],
        Float32Array.from({ length: 3 }, (_, i) => Number(i === layer)),
      ),
      end: tensor(
        [1, 77],
        Float32Array.from({ length: 77 }, (_, i) => Number(i === 8)),
      ),
    })
    expect(deviation(outputs[output]!, golden[result] as Summary)).toBeLessThan(1e-5)
  })
})

it('writes CUDA graphs in operators that the CPU does not have, so the rewriting is what ran above', async () => {
  const session = await sessionOf(decoderGraph(await viewOfGolden('vae'), lowerings[1][1]))
  await expect(session.run({ latents: goldenInput('z', [1, 4, 8, 6]) })).rejects.toMatchObject({
    message: expect.stringMatching(/NhwcConv|GroupNorm/),
  })
})
