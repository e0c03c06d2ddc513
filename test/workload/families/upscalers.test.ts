import { describe, expect, it } from 'vitest'
import { openUpscaler } from '../../../src/workload/families/support/open-upscaler.ts'
import { mapped, tensor } from '../../../src/workload/tensor/tensor.ts'
import { tiledScale } from '../../../src/workload/tensor/tiled-scale.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { deviation, goldenInput } from '../../support/golden-models.ts'
import { fileOf, lowerings } from '../../support/golden-views.ts'
import { referenceNetworks } from '../../support/reference-networks.ts'
import { testServices } from '../../support/services.ts'

const picture = (height: number, width: number) =>
  mapped(goldenInput('picture', [1, 3, height, width], 0.4), (value) => value + 0.5)

async function open(keys: Readonly<Record<string, readonly number[]>>, name = 'x4.safetensors') {
  return openUpscaler(await openSafetensors(await fileOf(keys)), name, await testServices())
}

describe.each(
  lowerings.flatMap(([device, lower, rewrite]) =>
    Object.entries(referenceNetworks.upscalers).map(
      ([name, network]) => [name, device, network, lower, rewrite] as const,
    ),
  ),
)(
  'the enlarging network "%s" %s',
  (_name, _device, { keys, picture: [height, width], scale, result }, lower, rewrite) => {
    it('gives what PyTorch gives', async () => {
      const services = await testServices(lower, rewrite)
      const upscaler = openUpscaler(await openSafetensors(await fileOf(keys)), 'tiny.safetensors', services)
      expect(upscaler.scale).toBe(scale)
      expect(deviation(await upscaler.upscale(picture(height, width)), result)).toBeLessThan(2e-5)
    })
  },
)

it.each(['params_ema.', 'params.', 'module.', 'params.module.'])('looks behind the prefix %s', async (prefix) => {
  const { keys, picture: size, result } = referenceNetworks.upscalers.compact!
  const wrapped = Object.fromEntries(Object.entries(keys).map(([name, dims]) => [prefix + name, dims]))
  const upscaler = await open(wrapped)
  expect(upscaler.scale).toBe(4)
  expect((await upscaler.upscale(picture(...size))).dims).toEqual(result.shape)
})

it('shows no seam where every tile sees all that the network looks at', async () => {
  const { keys } = referenceNetworks.upscalers['compact x2']!
  const upscaler = await open(keys)
  const whole = picture(40, 50)
  const tiling = { tile: { width: 32, height: 32 }, overlap: 8, scale: 2, channels: 3 }
  const tiled = await tiledScale(whole, tiling, upscaler.upscale)
  const direct = await upscaler.upscale(whole)
  expect(tiled.dims).toEqual(direct.dims)
  // Tiles begin at 24 and end at 32 along both sides; three layers of 3 × 3 look three pixels far.
  const far = (at: number) => [24, 32].every((edge) => Math.abs(Math.floor(at / 2) + 0.5 - edge) > 3)
  const compared = [...direct.data].flatMap((value, i) =>
    far(i % 100) && far(Math.floor(i / 100) % 80) ? [Math.abs(value - tiled.data[i]!)] : [],
  )
  expect(compared.length).toBeGreaterThan(10_000)
  expect(Math.max(...compared)).toBeLessThan(1e-5)
})

describe('refuses', () => {
  it.each([
    ['SwinIR', { 'layers.0.residual_group.blocks.0.norm1.weight': [4] }],
    ['Swin2SR', { 'layers.0.residual_group.blocks.0.attn.logit_scale': [4] }],
    ['HAT', { 'layers.0.residual_group.overlap_attn.relative_position_bias_table': [4] }],
    ['DAT', { 'layers.0.blocks.0.attn.attns.0.pos.pos_proj.weight': [4, 4] }],
    ['SPAN', { 'block_1.c1_r.sk.weight': [4, 4, 1, 1] }],
    ['other than three channels', grey()],
    ['2 tensors, the first a.weight, b.weight', { 'a.weight': [4], 'b.weight': [4] }],
  ] as const)('a file that is %s, by name', async (what, keys) => {
    await expect(open(keys, 'mine.safetensors')).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringMatching(new RegExp(`mine\\.safetensors is not supported .*${what}`)),
    })
  })
})

/** An ESRGAN for grey pictures. */
function grey(): Readonly<Record<string, readonly number[]>> {
  const { keys } = referenceNetworks.upscalers.real!
  return { ...keys, 'conv_first.weight': [8, 1, 3, 3], 'conv_last.weight': [1, 8, 3, 3] }
}

it('enlarges every picture of a batch as it would alone', async () => {
  const { keys } = referenceNetworks.upscalers.real!
  const upscaler = await open(keys)
  const both = tensor([2, 3, 5, 6], goldenInput('both', [2, 3, 5, 6]).data)
  const alone = await upscaler.upscale(tensor([1, 3, 5, 6], both.data.subarray(90)))
  const { dims, data } = await upscaler.upscale(both)
  expect(dims).toEqual([2, 3, 20, 24])
  const rest = data.subarray(data.length / 2)
  expect(Math.max(...alone.data.map((value, i) => Math.abs(value - rest[i]!)))).toBeLessThan(1e-5)
})
