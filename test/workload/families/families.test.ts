import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadFamilies } from '../../../src/workload/families/support/model-store.ts'
import { sinusoids } from '../../../src/workload/families/support/size-vector.ts'
import type { ConditioningEntry } from '../../../src/workload/model/conditioning.ts'
import type { DiffusionModel } from '../../../src/workload/model/ports.ts'
import { slicedAlong } from '../../../src/workload/tensor/axes.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { viewOver } from '../../../src/workload/weights/weight-view.ts'
import { emptyFolder, sharedFolder } from '../../support/folder.ts'
import { readGoldens } from '../../support/goldens.ts'
import { openCheckpoint } from '../../support/models.ts'
import { type UnetPlan, unetShapes } from '../../support/network-shapes.ts'
import { checkpointWriter, type Kind, plans, randomWeights, type Weights } from '../../support/random-checkpoints.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

const fileOf = checkpointWriter(sharedFolder())
const model = async (kind: Kind) => (await openCheckpoint(await fileOf(kind))).model

/** The model of a checkpoint with the network of `kind` and nothing else but `marks`. */
async function modelWith(kind: Kind, marks: Weights): Promise<DiffusionModel> {
  const network = randomWeights(unetShapes(plans[kind].unet), 'model.diffusion_model.')
  const path = join(await emptyFolder(), 'marked.safetensors')
  return (await openCheckpoint(await writeSafetensors(path, { ...network, ...marks }))).model
}

const one = (value: number) => tensor([1], Float32Array.of(value))
const x = filled([1, 4, 2, 2], 1)
/** The guess at the clean image for x 1 and output 1, which tells what the output means. */
const guess = ({ sampling }: DiffusionModel, sigma: number) => sampling.denoised(x, x, sigma).data[0]!
const meanings = {
  eps: (sigma: number) => 1 - sigma,
  v: (sigma: number) => 1 / (sigma ** 2 + 1) - sigma / Math.sqrt(sigma ** 2 + 1),
  edm: (sigma: number) => 0.25 / (sigma ** 2 + 0.25) + (sigma * 0.5) / Math.sqrt(sigma ** 2 + 0.25),
}
const TELLING = 'model.diffusion_model.output_blocks.11.1.transformer_blocks.0.norm1.bias'
const spread = (deviation: number) => mapped(zeros([32]), (_, i) => (i % 2 === 0 ? deviation : -deviation))
const none = zeros([0])

const sd1: UnetPlan = { ...plans['SD 1.5'].unet, channels: 320, context: 768 }
const sd2: UnetPlan = { ...sd1, linear: true, context: 1024 }
const sdxl: UnetPlan = {
  ...plans['SDXL base'].unet,
  channels: 320,
  depths: [0, 2, 10],
  middle: 10,
  context: 2048,
  vector: 2816,
}
const refiner: UnetPlan = {
  ...plans['SDXL refiner'].unet,
  channels: 384,
  depths: [0, 4, 4, 0],
  middle: 4,
  context: 1280,
  vector: 2560,
}

it.each([
  ['Stable Diffusion 1.5', sd1, 'sd1'],
  ['Stable Diffusion 1.5 for inpainting', { ...sd1, inChannels: 9 }, 'sd1'],
  ['InstructPix2Pix', { ...sd1, inChannels: 8 }, 'sd1'],
  ['Stable Diffusion 2.1', sd2, 'sd2'],
  ['Stable Diffusion 2 for inpainting', { ...sd2, inChannels: 9 }, 'sd2'],
  ['Stable Diffusion 2 with depth', { ...sd2, inChannels: 5 }, undefined],
  ['Stable unCLIP', { ...sd2, vector: 2048 }, undefined],
  ['the x4 upscaler', { ...sd2, channels: 256, inChannels: 7 }, undefined],
  ['Stable Video Diffusion', { ...sd2, inChannels: 8, vector: 768 }, undefined],
  ['SDXL', sdxl, 'sdxl'],
  ['SDXL for inpainting', { ...sdxl, inChannels: 9 }, 'sdxl'],
  ['CosXL Edit', { ...sdxl, inChannels: 8 }, 'sdxl'],
  ['SSD-1B', { ...sdxl, depths: [0, 2, 4], middle: -1 }, 'sdxl'],
  ['Vega', { ...sdxl, depths: [0, 1, 2], middle: -1 }, 'sdxl'],
  ['KOALA', { ...sdxl, resBlocks: 1, depths: [0, 2, 5], middle: 'none' }, 'sdxl'],
  ['the refiner', refiner, 'sdxl-refiner'],
] as const)('%s, at its published size, is of one family or of none', async (_name, plan: UnetPlan, family) => {
  const place = { path: '', dtype: 'F16', offset: 0, length: 0 }
  const weights = Object.entries(unetShapes(plan)).map(([name, dims]) => [name, { ...place, dims }] as const)
  const network = viewOver(new Map(weights), 'the shapes')
  const knowing = [...(await loadFamilies()).values()].filter(({ matches }) => matches(network))
  expect(knowing.map(({ name }) => name)).toEqual(family === undefined ? [] : [family])
})

describe('how a network was trained is told', () => {
  it.each([
    ['SD 1.5', 'eps', 14.6146, {}],
    ['SD 2.1', 'eps', 14.6146, { [TELLING]: spread(0.08) }],
    ['SD 2.1', 'v', 14.6146, { [TELLING]: spread(0.1) }],
    ['SD 2 inpainting', 'eps', 14.6146, { [TELLING]: spread(0.1) }],
    ['SDXL base', 'eps', 14.6146, {}],
    ['SDXL base', 'eps', 14.6146, { ztsnr: none }],
    ['SDXL base', 'v', 14.6146, { v_pred: none }],
    ['SDXL base', 'v', 4518.7637, { v_pred: none, ztsnr: none }],
    ['SDXL base', 'edm', 80, { edm_mean: zeros([4]), edm_std: filled([4], 1) }],
    ['SDXL base', 'v', 90, { 'edm_vpred.sigma_max': one(90) }],
    ['SDXL refiner', 'eps', 14.6146, { v_pred: none }],
  ] as const)('%s gives %s up to σ %f', async (kind, meaning, sigmaMax, marks) => {
    const marked = await modelWith(kind, marks as Weights)
    expect(marked.sampling.sigmaMax).toBeCloseTo(sigmaMax, 3)
    for (const sigma of [0.3, 2]) expect(guess(marked, sigma)).toBeCloseTo(meanings[meaning](sigma), 5)
  })

  it('by the lowest level as well where the file has it', async () => {
    const marks = { 'edm_vpred.sigma_max': one(120), 'edm_vpred.sigma_min': one(0.01) }
    expect((await modelWith('SDXL base', marks)).sampling.sigmaMin).toBeCloseTo(0.01, 6)
  })
})

describe('latents', () => {
  it.each([
    ['SD 1.5', 0.18215],
    ['SD 2.1', 0.18215],
    ['SDXL base', 0.13025],
    ['SDXL refiner', 0.13025],
  ] as const)('of %s are scaled by %f', async (kind, factor) => {
    const { latent } = await model(kind)
    expect(latent.processIn(x).data[0]).toBeCloseTo(factor, 6)
    expect(latent.processOut(latent.processIn(x)).data[0]).toBeCloseTo(1, 6)
  })

  const published = {
    sd: [0.3512, 0.2297, 0.3227],
    sdxl: [0.3651, 0.4232, 0.4341],
    playground: [0.392, 0.4054, 0.4549],
  }
  it.each([
    ['SD 1.5', 'sd', {}],
    ['SD 2.1', 'sd', {}],
    ['SDXL base', 'sdxl', {}],
    ['SDXL base', 'playground', { edm_mean: zeros([4]), edm_std: filled([4], 1) }],
    ['SDXL refiner', 'sdxl', {}],
  ] as const)('of %s can be watched in the colours of %s', async (kind, colours, marks) => {
    const { latent } = await modelWith(kind, marks as Weights)
    expect(latent.colours!.factors).toHaveLength(4)
    expect(latent.colours!.factors[0]).toEqual(published[colours])
  })

  it('of a checkpoint with an autoencoder of its own have the colours that it says', async () => {
    const latent_rgb = tensor(
      [5, 3],
      Float32Array.from({ length: 15 }, (_, i) => i),
    )
    const { latent } = await modelWith('SD 1.5', { latent_rgb })
    expect(latent.colours).toEqual({
      factors: [
        [0, 1, 2],
        [3, 4, 5],
        [6, 7, 8],
        [9, 10, 11],
      ],
      bias: [12, 13, 14],
    })
    await expect(modelWith('SD 1.5', { latent_rgb: zeros([4, 3]) })).rejects.toThrow('latent_rgb has the shape [4,3]')
  })

  it("of Playground are standardised channel by channel to SDXL's deviation", async () => {
    const { latent } = await modelWith('SDXL base', { edm_mean: zeros([4]), edm_std: filled([4], 1) })
    const two = filled([2, 4, 1, 2], 1)
    const scaled = latent.processIn(two)
    for (const [channel, expected] of [
      [0, ((1 + 1.6574) * 0.5) / 8.4927],
      [1, ((1 - 1.886) * 0.5) / 5.9022],
      [2, ((1 + 1.383) * 0.5) / 6.5498],
      [3, ((1 - 2.5155) * 0.5) / 5.2299],
    ] as const)
      for (const row of [0, 1]) expect(scaled.data[row * 8 + channel * 2]).toBeCloseTo(expected, 6)
    for (const value of latent.processOut(scaled).data) expect(value).toBeCloseTo(1, 5)
  })
})

interface Embedding {
  readonly t: number
  readonly dim: number
  readonly values?: readonly number[]
  readonly values_0_to_3?: readonly number[]
  readonly values_128_to_131?: readonly number[]
}

it('numbers become the sinusoids of the reference', () => {
  const { timestep_embedding } = readGoldens<{ readonly timestep_embedding: readonly Embedding[] }>('golden_misc')
  for (const { t, dim, values, values_0_to_3 = [], values_128_to_131 = [] } of timestep_embedding) {
    const { data } = sinusoids(t, dim)
    const seen = values ? data : [...data.subarray(0, 4), ...data.subarray(128, 132)]
    const wanted = values ?? [...values_0_to_3, ...values_128_to_131]
    for (const [i, value] of wanted.entries()) expect(Math.abs(seen[i]! - value)).toBeLessThan(1e-6)
  }
})

describe('the vector beside the timestep', () => {
  const entry: ConditioningEntry = { context: zeros([1, 77, 96]), pooled: filled([1, 48], 0.5) }
  const size = { height: 12, width: 20 }
  /** The numbers whose sinusoids `y` holds behind the pooled vector, found among `candidates`. */
  const numbersIn = (y: Tensor, candidates: readonly number[]) =>
    Array.from({ length: (y.dims[1]! - 48) / 256 }, (_, i) => {
      const part = slicedAlong(y, 1, 48 + i * 256, 48 + (i + 1) * 256).data
      return candidates.find((each) => sinusoids(each, 256).data.every((value, at) => value === part[at]))
    })

  it('of SDXL holds the pooled text, height before width, crop and target', async () => {
    const { inputsFor } = await model('SDXL base')
    const { y } = inputsFor(entry, size)
    expect([...y!.data.subarray(0, 48)]).toEqual(new Array(48).fill(0.5))
    expect(numbersIn(y!, [0, 96, 160])).toEqual([96, 160, 0, 0, 96, 160])
    const imageSize = { width: 1, height: 2, cropW: 3, cropH: 4, targetWidth: 5, targetHeight: 6 }
    expect(numbersIn(inputsFor({ ...entry, imageSize }, size).y!, [1, 2, 3, 4, 5, 6])).toEqual([2, 1, 4, 3, 6, 5])
    const partial = inputsFor({ ...entry, imageSize: { width: 7 } }, size).y!
    expect(numbersIn(partial, [0, 7, 96])).toEqual([96, 7, 0, 0, 96, 7])
  })

  it('of the refiner ends with the beauty, less of it on the negative side', async () => {
    const { inputsFor } = await model('SDXL refiner')
    const numbers = [0, 2.5, 6, 8, 96, 160]
    expect(numbersIn(inputsFor(entry, size).y!, numbers)).toEqual([96, 160, 0, 0, 6])
    expect(numbersIn(inputsFor(entry, { ...size, negative: true }).y!, numbers)).toEqual([96, 160, 0, 0, 2.5])
    const scored = { ...entry, aestheticScore: 8 }
    expect(numbersIn(inputsFor(scored, { ...size, negative: true }).y!, numbers)).toEqual([96, 160, 0, 0, 8])
  })

  it('cannot be made of a conditioning for another family, which is said', async () => {
    const { inputsFor } = await model('SDXL base')
    expect(() => inputsFor({ context: entry.context }, size)).toThrow('no pooled vector')
    expect(() => inputsFor({ ...entry, pooled: zeros([1, 32]) }, size)).toThrow('was its text encoder made for another')
  })
})

describe('what inpainting networks are shown beside the noisy picture', () => {
  const context = zeros([1, 77, 32])
  const size = { height: 2, width: 4 }
  const grey = [0.8223, -0.6876, 0.6364, 0.138]
  /** The first value of each channel of `concat`. */
  const channels = ({ dims, data }: Tensor) => Array.from({ length: dims[1]! }, (_, c) => data[c * 8]!)
  const close = (seen: readonly number[], wanted: readonly number[]) => {
    expect(seen.length).toBe(wanted.length)
    for (const [i, value] of wanted.entries()) expect(seen[i]).toBeCloseTo(value, 6)
  }

  it('is all to be drawn anew over grey when there is no mask', async () => {
    const { inputsFor } = await model('SD 1.5 inpainting')
    const { concat } = inputsFor({ context }, { ...size, latent: filled([2, 4, 2, 4], 3) })
    expect(concat!.dims).toEqual([1, 5, 2, 4])
    close(channels(concat!), [1, ...grey])
    const unmasked = { context, concat: { latent: filled([1, 4, 2, 4], 3) } }
    close(channels(inputsFor(unmasked, size).concat!), [1, ...grey])
  })

  it("is the run's mask, rounded, and its picture as it is", async () => {
    const { inputsFor } = await model('SD 1.5 inpainting')
    const run = { ...size, latent: filled([2, 4, 2, 4], 3), noiseMask: filled([1, 1, 2, 4], 0.6) }
    const { concat } = inputsFor({ context }, run)
    expect(concat!.dims).toEqual([2, 5, 2, 4])
    close(channels(concat!), [1, 3, 3, 3, 3])
    close(channels(inputsFor({ context }, { ...run, noiseMask: filled([1, 1, 2, 4], 0.5) }).concat!), [0, 3, 3, 3, 3])
  })

  it("is the entry's own mask, resized, and its picture in the network's scale", async () => {
    for (const [kind, factor] of [
      ['SD 1.5 inpainting', 0.18215],
      ['SD 2 inpainting', 0.18215],
      ['SDXL inpainting', 0.13025],
    ] as const) {
      const { inputsFor } = await model(kind)
      const entry = { context, pooled: zeros([1, 48]), concat: { latent: filled([1, 4, 2, 4], 2), mask: x0(16, 32) } }
      const { concat } = inputsFor(entry, { ...size, noiseMask: zeros([1, 1, 2, 4]) })
      close(channels(concat!), [1, ...new Array<number>(4).fill(2 * factor)])
      expect([...concat!.data.subarray(0, 8)]).toEqual([1, 1, 0, 0, 1, 1, 0, 0])
    }
  })

  it("is the picture of an instruction in the autoencoder's scale, or noughts without one", async () => {
    const { inputsFor } = await model('InstructPix2Pix')
    const entry = { context, concat: { latent: filled([1, 4, 2, 4], 2) } }
    expect(inputsFor(entry, size).concat).toEqual(filled([1, 4, 2, 4], 2))
    expect(inputsFor({ context }, size).concat).toEqual(zeros([1, 4, 2, 4]))
  })

  it('is nothing for plain networks', async () => {
    const { inputsFor } = await model('SD 1.5')
    const entry = { context, concat: { latent: filled([1, 4, 2, 4], 2) } }
    expect(inputsFor(entry, size)).toEqual({ context })
  })
})

/** A mask `[1, height, width]` of ones on its left half. */
const x0 = (height: number, width: number) => mapped(zeros([1, height, width]), (_, i) => Number(i % width < width / 2))
