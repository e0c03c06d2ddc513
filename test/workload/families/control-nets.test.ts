import { describe, expect, it } from 'vitest'
import { once } from '../../../src/workload/base/once.ts'
import { openControlNet } from '../../../src/workload/families/support/open-control-net.ts'
import { controlInputs } from '../../../src/workload/families/support/unet-control.ts'
import { createUnetNetwork } from '../../../src/workload/families/support/unet-network.ts'
import type { ControlModel, ControlResiduals } from '../../../src/workload/model/control.ts'
import { repeatRows, takeRows } from '../../../src/workload/tensor/rows.ts'
import { filled, mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { openSafetensors, type SafetensorsFile } from '../../../src/workload/weights/safetensors.ts'
import { viewOver } from '../../../src/workload/weights/weight-view.ts'
import { sharedFolder } from '../../support/folder.ts'
import { deviation, goldenInput, goldenModels, type Summary } from '../../support/golden-models.ts'
import { fileOf, fileOfGolden, lowerings, viewOfGolden } from '../../support/golden-views.ts'
import { referenceNetworks } from '../../support/reference-networks.ts'
import { testServices } from '../../support/services.ts'

type Shapes = Readonly<Record<string, readonly number[]>>

const hintOf = (height: number, width: number) =>
  mapped(goldenInput('hint', [1, 3, height, width], 0.5), (value) => value + 0.5)
const x = goldenInput('x', [1, 4, 16, 24])
const context = goldenInput('ctx', [1, 7, 24])
const hint = hintOf(128, 192)

async function open(keys: Shapes, name: string, given = services): Promise<ControlModel> {
  return openControlNet(await openSafetensors(await fileOf(keys, name)), name, await given)
}
const sd15 = goldenModels.controlnet_sd15!
const services = testServices()
const folder = sharedFolder()
const file = once(() => fileOfGolden('controlnet_sd15', folder()))
const control = once(async () => openControlNet(await file(), 'canny.safetensors', await services))
const unet = once(async () => {
  const view = await viewOfGolden('unet_sd15', folder())
  return createUnetNetwork({ key: 'golden', view, headsOf: () => 8 }, await services)
})
/** The names and shapes of a golden network whose values nobody asks for. */
const shapesOf = (name: string) =>
  new Map(
    Object.entries(goldenModels[name]!.keys).map(([key, dims]) => {
      return [key, { path: 'none', dtype: 'F32', dims, offset: 0, length: 0 }] as const
    }),
  )
const fileOfShapes = (name: string): SafetensorsFile => {
  return { path: name, version: '', tensors: shapesOf(name), metadata: {} }
}

describe('a control network', () => {
  it('steers a network as the reference', async () => {
    const residuals = await (await control()).residuals(x, [500], { context }, hint)
    const steered = await (await unet()).predict(x, [500], { context }, { control: residuals })
    expect(residuals.output!.map((each) => each!.dims)).toEqual((sd15.output as Summary[]).map(({ shape }) => shape))
    expect(deviation(steered, sd15.unet_with_control_strength1 as Summary)).toBeLessThan(2e-4)
  })

  it('is found behind a prefix too', async () => {
    const tensors = new Map([...shapesOf('controlnet_sd15')].map(([name, weight]) => [`control_model.${name}`, weight]))
    const file = { ...fileOfShapes('controlnet_sd15'), tensors }
    expect(openControlNet(file, 'canny.safetensors', await services).hintScale).toBe(8)
  })

  it('changes nothing when all that it adds is nought', async () => {
    const plain = await (await unet()).predict(x, [500], { context })
    const nothing = { output: [undefined, zeros([1, 32, 16, 24])] }
    const steered = await (await unet()).predict(x, [500], { context }, { control: nothing })
    expect(largest(steered, plain)).toBeLessThan(1e-6)
  })

  it('gives each row of a batch what it would get alone', async () => {
    const both = goldenInput('both', [2, 4, 16, 24])
    const twice = { context: repeatRows(context, 2) }
    const together = await (await control()).residuals(both, [500, 20], twice, repeatRows(hint, 2))
    const alone = await (await control()).residuals(takeRows(both, 1, 2), [20], { context }, hint)
    expect(largest(alone.middle!, takeRows(together.middle!, 1, 2))).toBeLessThan(1e-4)
  })

  it('whose hint is shuffled gives the same everywhere, told by the name of its file', async () => {
    for (const name of ['sd15_shuffle.safetensors', 'sd15_shuffle_fp16.safetensors']) {
      const averaging = openControlNet(await file(), name, await services)
      const { middle } = await averaging.residuals(x, [500], { context }, hint)
      const [first, second] = middle!.data
      expect(first).toBe(second)
    }
  })

  it('is refused by a model of another kind, saying why', async () => {
    const wide = { context: goldenInput('ctx', [1, 7, 48]), y: goldenInput('y', [1, 96]) }
    await expect((await control()).residuals(x, [500], wide, hint)).rejects.toThrow(
      'made for another kind of diffusion model: it takes 24 values a text token, the model has 48',
    )
    const large = openControlNet(fileOfShapes('controlnet_sdxl'), 'large.safetensors', await services)
    await expect(large.residuals(x, [500], { context }, hint)).rejects.toThrow('it takes 48 values a text token')
    await expect(large.residuals(x, [500], { context: wide.context }, hint)).rejects.toThrow(
      'it takes 96 values beside the timestep, the model has none',
    )
  })

  it('that fits no block of a model is refused by it, saying which', async () => {
    const view = viewOver(shapesOf('unet_sdxl'), 'a test')
    const network = createUnetNetwork({ key: 'large', view, headsOf: () => 1 }, await services)
    const steeredBy = (residuals: ControlResiduals) => network.predict(x, [500], {}, { control: residuals })
    await expect(steeredBy({ input: [undefined, zeros([1, 32, 16, 24])] })).rejects.toThrow(
      'another kind of diffusion model: it gives 32×16×24 for input block 1, where 64×16×24 are wanted',
    )
    await expect(steeredBy({ output: [zeros([1, 64, 8, 12])] })).rejects.toThrow('for the connection of block 0')
    await expect(steeredBy({ middle: zeros([1, 256, 1, 1]) })).rejects.toThrow('for the middle block')
    await expect(steeredBy({ input: Array.from({ length: 9 }, () => x) })).rejects.toThrow(
      'more than the 6 input blocks',
    )
  })

  it('is left out where the picture is computed smaller than it is, and only there', async () => {
    const view = viewOver(shapesOf('unet_sd15'), 'a test')
    const sides = [16, 16, 8, 8, 4, 4, 2, 2]
    const output = [32, 32, 32, 64, 64, 128, 128, 128].map((channels, i) => {
      return filled([1, channels, sides[i]!, sides[i]!], i)
    })
    const shrink = { kind: 'downscale', block: 3, factor: 2, downscaleMethod: 'area', upscaleMethod: 'area' } as const
    const latents = zeros([1, 4, 16, 16])
    const kept = (afterSkip: boolean) => {
      const always = { ...shrink, afterSkip, sigmas: { start: 99, end: 0 } }
      const inputs = controlInputs(view, latents, { input: output, output }, [always])
      const places = (name: string) =>
        output.flatMap((_, i) => (inputs[`control_${name}_${i}`]!.dims[1] === 1 ? [] : [i]))
      return { input: places('input'), output: places('output') }
    }
    expect(kept(true)).toEqual({ input: [0, 1, 2, 3], output: [0, 1, 2, 3] })
    expect(kept(false)).toEqual({ input: [0, 1, 2, 3], output: [0, 1, 2] })
  })

  it('wants a hint with three channels', async () => {
    const four = zeros([1, 4, 128, 192])
    await expect((await control()).residuals(x, [500], { context }, four)).rejects.toThrow('4 channels')
  })
})

/** The names of diffusers for the golden network: one residual block a level, three downsamplings. */
const theirs: readonly (readonly [ours: RegExp, theirs: string])[] = [
  [/^input_blocks\.0\.0/, 'conv_in'],
  [/^time_embed\.0/, 'time_embedding.linear_1'],
  [/^time_embed\.2/, 'time_embedding.linear_2'],
  ...[0, 1, 2, 3].flatMap((level): (readonly [RegExp, string])[] => [
    [new RegExp(`^input_blocks\\.${2 * level + 1}\\.0`), `down_blocks.${level}.resnets.0`],
    [new RegExp(`^input_blocks\\.${2 * level + 1}\\.1`), `down_blocks.${level}.attentions.0`],
    [new RegExp(`^input_blocks\\.${2 * level + 2}\\.0\\.op`), `down_blocks.${level}.downsamplers.0.conv`],
  ]),
  [/^middle_block\.0/, 'mid_block.resnets.0'],
  [/^middle_block\.1/, 'mid_block.attentions.0'],
  [/^middle_block\.2/, 'mid_block.resnets.1'],
  [/in_layers\.0/, 'norm1'],
  [/in_layers\.2/, 'conv1'],
  [/emb_layers\.1/, 'time_emb_proj'],
  [/out_layers\.0/, 'norm2'],
  [/out_layers\.3/, 'conv2'],
  [/skip_connection/, 'conv_shortcut'],
  [/^zero_convs\.(\d+)\.0/, 'controlnet_down_blocks.$1'],
  [/^middle_block_out\.0/, 'controlnet_mid_block'],
  [/^input_hint_block\.0\./, 'controlnet_cond_embedding.conv_in.'],
  ...[0, 1, 2, 3, 4, 5].map(
    (i) => [new RegExp(`^input_hint_block\\.${2 * i + 2}\\.`), `controlnet_cond_embedding.blocks.${i}.`] as const,
  ),
  [/^input_hint_block\.14\./, 'controlnet_cond_embedding.conv_out.'],
]

const inDiffusers = (name: string) => theirs.reduce((at, [ours, other]) => at.replace(ours, other), name)

it('opens control networks in the layout of diffusers', async () => {
  const renamed = Object.keys(sd15.keys).map((name) => {
    return [inDiffusers(name), name] as const
  })
  expect(renamed.map(([name]) => name)).toContain('down_blocks.3.resnets.0.norm1.weight')
  // Values follow from the names of LDM, so that the goldens tell whether each lands where it belongs.
  const { tensors, ...rest } = await file()
  const renamedControl = openControlNet(
    { ...rest, tensors: new Map(renamed.map(([name, own]) => [name, tensors.get(own)!])) },
    'diffusers.safetensors',
    await testServices(),
  )
  const { output, middle } = await renamedControl.residuals(x, [500], { context }, hint)
  for (const [i, golden] of (sd15.output as Summary[]).entries())
    expect(deviation(output![i]!, golden)).toBeLessThan(2e-4)
  expect(deviation(middle!, (sd15.middle as Summary[])[0]!)).toBeLessThan(2e-4)
})

describe.each(
  lowerings.flatMap(([device, lower, rewrite]) =>
    Object.entries(referenceNetworks.adapters).map(
      ([name, adapter]) => [name, device, adapter, lower, rewrite] as const,
    ),
  ),
)('the T2I adapter "%s" %s', (name, _device, { keys, hint: [height, width], results }, lower, rewrite) => {
  it('gives what PyTorch gives, to the blocks it is made for', async () => {
    const adapter = await open(keys, 'sketch.safetensors', testServices(lower, rewrite))
    const given = hintOf(height, width)
    const { input, output, middle } = await adapter.residuals(x, [500], { context }, given)
    const large = name === 'sdxl'
    const blocks = large ? [3, 5, 8] : [2, 5, 8, 11]
    expect(adapter.hintMultiple).toBe(large ? 16 : 8)
    expect(input!.flatMap((each, i) => (each ? [i] : []))).toEqual(blocks)
    for (const [level, block] of blocks.entries()) expect(deviation(input![block]!, results[level]!)).toBeLessThan(2e-5)
    if (large) expect(deviation(middle!, results[3]!)).toBeLessThan(2e-5)
    else expect(middle).toBeUndefined()
    expect(output).toBeUndefined()
    const again = await adapter.residuals(x, [20], { context }, given)
    expect(again.input![blocks[0]!]).toBe(input![blocks[0]!])
  })
})

it('opens T2I adapters in the layout of diffusers', async () => {
  const { keys, hint: size, results } = referenceNetworks.adapters.full!
  const { tensors, ...rest } = await openSafetensors(await fileOf(keys))
  const moved = (name: string) =>
    `adapter.${name
      .replace(/^body\.(\d+)\.in_conv/, (_, i) => `body.${Math.floor(Number(i) / 2)}.in_conv`)
      .replace(
        /^body\.(\d+)\.(block\d)/,
        (_, i, part) => `body.${Math.floor(Number(i) / 2)}.resnets.${Number(i) % 2}.${part}`,
      )}`
  const adapter = openControlNet(
    { ...rest, tensors: new Map([...tensors].map(([name, stored]) => [moved(name), stored])) },
    'adapter.safetensors',
    await testServices(),
  )
  const { input } = await adapter.residuals(x, [500], { context }, hintOf(...size))
  expect(deviation(input![11]!, results[3]!)).toBeLessThan(2e-5)
})

describe('a union control network', () => {
  const { keys: unionKeys } = referenceNetworks.union
  /** The golden network in the layout of diffusers with the layers of a union network of three kinds. */
  const unionFile = once(async () => {
    const layers = {
      'linear_1.weight': [40, 768],
      'linear_1.bias': [40],
      'linear_2.weight': [128, 40],
      'linear_2.bias': [128],
    }
    const wide = Object.entries(unionKeys).flatMap(([name, dims]): [string, readonly number[]][] =>
      name.startsWith('control_add') ? [] : [[name, dims.map((dim) => (dim % 8 === 0 ? dim * 4 : dim))]],
    )
    const added = Object.entries(layers).map(([name, dims]) => [`control_add_embedding.${name}`, dims] as const)
    const extra = await openSafetensors(
      await fileOf(Object.fromEntries([...wide, ...added]), 'union.safetensors', folder()),
    )
    const stored = [...extra.tensors].map(([name, weight]) => [name.replace('in_proj.', 'in_proj_'), weight] as const)
    const { tensors, ...rest } = await file()
    const own = [...tensors].map(([name, weight]) => [inDiffusers(name), weight] as const)
    return { ...rest, path: extra.path, tensors: new Map([...own, ...stored]) }
  })

  it('is told the kind of its hint, or finds out', async () => {
    const union = openControlNet(await unionFile(), 'union.safetensors', await services)
    const firstOf = async (model: ControlModel) => (await model.residuals(x, [500], { context }, hint)).output![0]!
    const auto = await firstOf(union)
    expect(await firstOf(union.ofKind!(undefined))).toEqual(auto)
    const [first, second] = [await firstOf(union.ofKind!(0)), await firstOf(union.ofKind!(1))]
    expect(largest(first, auto)).toBeGreaterThan(1e-3)
    expect(largest(first, second)).toBeGreaterThan(1e-3)
    expect(() => union.ofKind!(3)).toThrow('knows 3 kinds of hints, and number 4 is none')
    expect((await control()).ofKind).toBeUndefined()
  })
})

describe('refuses', () => {
  it.each([
    ['a control LoRA', { lora_controlnet: [1], 'input_hint_block.0.weight': [4, 3, 3, 3] }],
    ['a difference control network', { difference: [1], 'control_model.zero_convs.0.0.weight': [4, 4, 1, 1] }],
    ['a control network for diffusion transformers', { 'controlnet_blocks.0.weight': [4, 4] }],
    ['an autoencoder, not a control network', { 'decoder.conv_in.weight': [4, 4, 3, 3] }],
  ] as const)('%s, by name', async (what, keys) => {
    await expect(open(keys, 'mine.safetensors')).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining(`mine.safetensors is not supported: it is ${what}`),
    })
  })
})

const largest = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
