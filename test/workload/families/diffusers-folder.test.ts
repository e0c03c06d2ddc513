import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Checkpoint, ModelStore } from '../../../src/workload/model/ports.ts'
import { discreteSampling, edmSampling } from '../../../src/workload/sampling/model-sampling.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { filled } from '../../../src/workload/tensor/tensor.ts'
import { diffusersUnet, diffusersVae, transformersClip } from '../../support/diffusers-layout.ts'
import { emptyFolder } from '../../support/folder.ts'
import { storeOver } from '../../support/model-store.ts'
import type { Weights } from '../../support/random-checkpoints.ts'
import { writeSafetensors } from '../../support/safetensors.ts'
import {
  type TinyKind,
  type TinyWeights,
  tinyCheckpoint,
  tinyModels,
  tinyWeights,
} from '../../support/tiny-checkpoints.ts'

type Files = Readonly<Record<string, Weights | string>>

async function write(root: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    if (typeof content === 'string') await writeFile(join(root, path), content)
    else await writeSafetensors(join(root, path), content)
  }
}

/** A store over model folders with these files. */
async function storeOf(files: Files): Promise<ModelStore> {
  const root = await emptyFolder()
  await write(root, files)
  return storeOver(root)
}

const index = JSON.stringify({ _class_name: 'StableDiffusionPipeline' })

/** A model as the files of a folder of diffusers. OpenCLIP-H is stored without its last layer there. */
function folderOf(kind: TinyKind, { unet, vae, text, text2 }: TinyWeights): Files {
  const first = kind === 'sd2' ? withoutLayer(transformersClip(text), tinyModels.sd2.text.layers - 1) : text
  return {
    'model_index.json': index,
    'unet/diffusion_pytorch_model.safetensors': diffusersUnet(unet, tinyModels[kind].unet.resBlocks),
    'text_encoder/model.safetensors': first,
    ...(text2 && { 'text_encoder_2/model.safetensors': transformersClip(text2) }),
    'vae/diffusion_pytorch_model.safetensors': diffusersVae(vae),
  }
}

const withoutLayer = (weights: Weights, layer: number): Weights =>
  Object.fromEntries(Object.entries(weights).filter(([name]) => !name.includes(`.layers.${layer}.`)))

const below = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))

const x = createGenerator(3n).randn([1, 4, 8, 8])

/** What a checkpoint makes of one text and one noise. */
async function results({ model, clip, vae }: Checkpoint) {
  const [entry] = await clip!.encode('a (red:1.3) house')
  const pixels = await vae!.decode(x)
  return {
    context: entry!.context,
    output: await model.network.predict(x, [500], model.inputsFor(entry!, { height: 8, width: 8 })),
    pixels,
    latents: await vae!.encode(pixels),
  }
}

describe.each(['sd1', 'sd2', 'sdxl'] satisfies TinyKind[])('a folder of %s', (kind) => {
  it('computes to the bit what the same weights in one file compute', async () => {
    const weights = tinyWeights(kind)
    const store = await storeOf({
      'checkpoints/one.safetensors': tinyCheckpoint(kind, weights),
      ...below('diffusers/sub/many', folderOf(kind, weights)),
    })
    const many = await results(await store.diffusers('sub/many'))
    expect(many).toEqual(await results(await store.checkpoint('one.safetensors')))
  })
})

describe('a file in the layout of diffusers', () => {
  const weights = tinyWeights('sd1')
  const { unet, vae } = weights
  const predicted = async (store: ModelStore, name: string) => {
    const { network } = await store.diffusionModel(name)
    return network.predict(x, [500], { context: filled([1, 77, 32], 0.1) })
  }

  it('is opened as a diffusion model, with and without a prefix, as one in the layout of LDM is', async () => {
    const store = await storeOf({
      'diffusion_models/ldm.safetensors': unet,
      'diffusion_models/diffusers.safetensors': diffusersUnet(unet, 1),
      'unet/prefixed.safetensors': Object.fromEntries(
        Object.entries(diffusersUnet(unet, 1)).map(([name, t]) => [`model.diffusion_model.${name}`, t]),
      ),
      'checkpoints/whole.safetensors': tinyCheckpoint('sd1', weights),
    })
    const expected = await predicted(store, 'ldm.safetensors')
    expect(await predicted(store, 'diffusers.safetensors')).toEqual(expected)
    expect(await predicted(store, 'prefixed.safetensors')).toEqual(expected)
    const whole = await store.checkpoint('whole.safetensors')
    expect(await whole.model.network.predict(x, [500], { context: filled([1, 77, 32], 0.1) })).toEqual(expected)
  })

  it('is opened as an autoencoder', async () => {
    const store = await storeOf({ 'vae/a.safetensors': vae, 'vae/b.safetensors': diffusersVae(vae, 'old') })
    const [a, b] = await Promise.all(['a', 'b'].map(async (name) => (await store.vae(`${name}.safetensors`)).decode(x)))
    expect(b).toEqual(a)
  })

  it('says what else it is when it is no diffusion model', async () => {
    const store = await storeOf({ 'diffusion_models/vae.safetensors': vae })
    await expect(store.diffusionModel('vae.safetensors')).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining('autoencoder'),
    })
  })
})

describe('the configuration in a folder', () => {
  const files = folderOf('sd1', tinyWeights('sd1'))
  const model = async (configs: Files) => {
    const { 'unet/diffusion_pytorch_model.safetensors': unet } = files
    const folder = { 'model_index.json': index, 'unet/diffusion_pytorch_model.safetensors': unet!, ...configs }
    return (await (await storeOf(below('diffusers/m', folder))).diffusers('m')).model
  }
  const scheduler = (config: object): Files => ({ 'scheduler/scheduler_config.json': JSON.stringify(config) })

  it('tells how the network was trained', async () => {
    const levels = async (config: object) => (await model(scheduler(config))).sampling.sigmas
    expect(await levels({})).toEqual(discreteSampling({ prediction: 'eps' }).sigmas)
    expect(await levels({ prediction_type: 'v_prediction', rescale_betas_zero_snr: true })).toEqual(
      discreteSampling({ prediction: 'v', zeroTerminalSnr: true }).sigmas,
    )
    const edm = { _class_name: 'EDMEulerScheduler', sigma_min: 0.01, sigma_max: 50, sigma_data: 1 }
    expect(await levels({ ...edm, prediction_type: 'v_prediction' })).toEqual(
      edmSampling({ prediction: 'v', sigmaMin: 0.01, sigmaMax: 50, sigmaData: 1 }).sigmas,
    )
    const velocity = (await model(scheduler({ prediction_type: 'v_prediction' }))).sampling
    const expected = discreteSampling({ prediction: 'v' })
    expect(velocity.denoised(x, x, 2)).toEqual(expected.denoised(x, x, 2))
  })

  it('tells the scale of the latents', async () => {
    const { latent } = await model({ 'vae/config.json': JSON.stringify({ scaling_factor: 0.5 }) })
    expect(latent.processIn(filled([1, 4, 1, 1], 3))).toEqual(filled([1, 4, 1, 1], 1.5))
    const standard = { scaling_factor: 0.5, latents_mean: [1, 2, 3, 4], latents_std: [1, 2, 4, 8] }
    const { latent: moved } = await model({ 'vae/config.json': JSON.stringify(standard) })
    expect([...moved.processIn(filled([1, 4, 1, 1], 5)).data]).toEqual([2, 0.75, 0.25, 0.0625])
  })

  it.each([
    [{ _class_name: 'FlowMatchEulerDiscreteScheduler' }, 'FlowMatchEulerDiscreteScheduler'],
    [{ prediction_type: 'sample' }, 'prediction type sample'],
  ])('is refused when it tells of training that is not known: %o', async (config, fault) => {
    await expect(model(scheduler(config))).rejects.toMatchObject({ message: expect.stringContaining(fault) })
  })

  it.each([
    ['is no JSON', { 'scheduler/scheduler_config.json': '{' }, 'scheduler_config.json cannot be read: Expected'],
    ['cannot be opened', { 'vae/config.json/x': '' }, 'config.json cannot be read: EISDIR'],
  ])('is refused when its file is there but %s', async (_what, files: Files, fault) => {
    await expect(model(files)).rejects.toMatchObject({ message: expect.stringContaining(fault) })
  })
})

it.each([
  ['is not there', {}, 'm', "Model in folder 'diffusers' with filename 'm' not found."],
  [
    'has a network of another kind',
    { 'diffusers/m/model_index.json': '{"_class_name":"FluxPipeline"}', 'diffusers/m/transformer/x.txt': '' },
    'm',
    'm (FluxPipeline) has no unet/*.safetensors',
  ],
  [
    'has weights that may hold code',
    { 'diffusers/m/model_index.json': index, 'diffusers/m/unet/diffusion_pytorch_model.bin': '' },
    'm',
    'unet/diffusion_pytorch_model.bin is not read',
  ],
  [
    'has weights of nothing known',
    { 'diffusers/m/model_index.json': index, 'diffusers/m/unet/model.safetensors': { w: filled([2], 1) } },
    'm',
    'm is of no model family known here',
  ],
] satisfies [string, Files, string, string][])('says so when a folder %s', async (_what, files, name, fault) => {
  await expect((await storeOf(files)).diffusers(name)).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining(fault),
  })
})

it('has a version that changes with any file in the folder, and is opened anew then', async () => {
  const root = await emptyFolder()
  await write(root, below('diffusers/m', folderOf('sd1', tinyWeights('sd1'))))
  const store = await storeOver(root)
  const version = await store.version('diffusers', 'm')
  const before = await store.diffusers('m')
  expect(await store.version('diffusers', 'm')).toBe(version)
  expect(await store.diffusers('m')).toBe(before)
  await rm(join(root, 'diffusers/m/vae'), { recursive: true })
  expect(await store.version('diffusers', 'm')).not.toBe(version)
  const { vae, clip } = await store.diffusers('m')
  expect([vae, clip !== undefined]).toEqual([undefined, true])
})
