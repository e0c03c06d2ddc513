import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { taesdDecoderGraph, taesdEncoderGraph } from '../../../src/workload/architectures/taesd.ts'
import type { ModelStore } from '../../../src/workload/model/ports.ts'
import { channelsFirst, channelsLast } from '../../../src/workload/tensor/channels.ts'
import { mapped, type Tensor, tensor } from '../../../src/workload/tensor/tensor.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { viewOf } from '../../../src/workload/weights/weight-view.ts'
import { emptyFolder } from '../../support/folder.ts'
import { deviation, goldenInput, goldenWeight, type Summary } from '../../support/golden-models.ts'
import { lowerings } from '../../support/golden-views.ts'
import { storeOver } from '../../support/model-store.ts'
import type { Weights } from '../../support/random-checkpoints.ts'
import { sessionOf } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

type Shapes = Readonly<Record<string, readonly number[]>>

/** What PyTorch makes of a narrow TAESD; `tools/taesd-reference.py` wrote it. */
const reference = JSON.parse(readFileSync('test/fixtures/taesd.json', 'utf8')) as {
  readonly encoder: Shapes
  readonly decoder: Shapes
  readonly encode: Omit<Summary, 'sum' | 'abs_mean'>
  readonly decode: Omit<Summary, 'sum' | 'abs_mean'>
}

/** Residual blocks without norms would grow without bounds under the goldens' weights. */
const GAIN = 0.4

const weightsOf = (half: 'encoder' | 'decoder'): Weights =>
  Object.fromEntries(
    Object.entries(reference[half]).map(([name, dims]) => {
      const gain = dims.length > 1 ? GAIN : 1
      return [name, mapped(tensor(dims, goldenWeight(name, dims)), (value) => value * gain)]
    }),
  )

async function storeOf(files: Readonly<Record<string, Weights | string>>): Promise<ModelStore> {
  const root = await emptyFolder()
  await mkdir(join(root, 'vae_approx'))
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, 'vae_approx', name)
    await (typeof content === 'string' ? writeFile(path, content) : writeSafetensors(path, content))
  }
  return storeOver(root)
}

const viewOfHalf = async (half: 'encoder' | 'decoder') => {
  const path = await writeSafetensors(join(await emptyFolder(), 'half.safetensors'), weightsOf(half))
  return viewOf(await openSafetensors(path), '')
}

const latents = goldenInput('z', [1, 4, 4, 3])
const pixels = goldenInput('px', [1, 3, 32, 24])
const worst = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
const cutOff = (t: Tensor) => mapped(t, (value) => Math.min(1, Math.max(0, value)))

describe.each(lowerings)('TAESD %s', (_device, lower, rewrite) => {
  it('decodes as PyTorch', async () => {
    const session = await sessionOf(taesdDecoderGraph(await viewOfHalf('decoder'), lower), rewrite)
    expect(deviation((await session.run({ latents })).decoded!, reference.decode)).toBeLessThan(1e-4)
  })

  it('encodes as PyTorch', async () => {
    const session = await sessionOf(taesdEncoderGraph(await viewOfHalf('encoder'), lower), rewrite)
    expect(deviation((await session.run({ pixels })).latents!, reference.encode)).toBeLessThan(1e-4)
  })
})

describe('the autoencoder', () => {
  const halves = (name: string) => ({
    [`${name}_encoder.safetensors`]: weightsOf('encoder'),
    [`${name}_decoder.safetensors`]: weightsOf('decoder'),
  })

  it.each([
    ['taesd', 0.18215, 0],
    ['taesdxl', 0.13025, 0],
    ['taesd3', 1.5305, 0.0609],
    ['taef1', 0.3611, 0.1159],
  ])('%s works on latents in the scale it was trained on', async (name, scale, shift) => {
    const vae = await (await storeOf(halves(name))).vae(name)
    expect(vae).toMatchObject({ channels: 4, downscale: 8 })
    const lower = lowerings[0][1]
    const decoder = await sessionOf(taesdDecoderGraph(await viewOfHalf('decoder'), lower))
    const { decoded } = await decoder.run({ latents })
    const shown = await vae.decode(mapped(latents, (z) => z / scale + shift))
    expect(worst(channelsFirst(shown), cutOff(decoded!))).toBeLessThan(1e-5)

    const encoder = await sessionOf(taesdEncoderGraph(await viewOfHalf('encoder'), lower))
    const picture = cutOff(pixels)
    const expected = mapped((await encoder.run({ pixels: picture })).latents!, (z) => z / scale + shift)
    expect(worst(await vae.encode(channelsLast(picture)), expected)).toBeLessThan(1e-4)
  })

  it.each([
    [{ 'taesd_decoder.safetensors': weightsOf('decoder') }, 'taesd_encoder.safetensors'],
    [{ ...halves('taesd'), 'taesd_encoder.safetensors': weightsOf('decoder') }, 'are no TAESD autoencoder'],
    [{ 'taesd_encoder.pth': '', 'taesd_decoder.pth': '' }, 'taesd_encoder.pth is not read'],
  ])('says what is wrong with its files', async (files, fault) => {
    await expect((await storeOf(files)).vae('taesd')).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining(fault),
    })
  })
})
