import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ldmUnet } from '../../../src/workload/weights/diffusers-unet.ts'
import { ldmAutoencoder } from '../../../src/workload/weights/diffusers-vae.ts'
import { openSafetensors, readStored } from '../../../src/workload/weights/safetensors.ts'
import { openWeightFolder } from '../../../src/workload/weights/weight-folder.ts'
import { viewOf, type WeightView } from '../../../src/workload/weights/weight-view.ts'
import { diffusersUnet, diffusersVae } from '../../support/diffusers-layout.ts'
import { emptyFolder } from '../../support/folder.ts'
import { autoencoderShapes, unetShapes } from '../../support/network-shapes.ts'
import { type Kind, plans, randomWeights, type Weights } from '../../support/random-checkpoints.ts'
import { type Stored, writeSafetensors } from '../../support/safetensors.ts'

/** `weights` in a file, read back. */
async function viewOfFile(weights: Weights): Promise<WeightView> {
  const path = await writeSafetensors(join(await emptyFolder(), 'w.safetensors'), weights)
  return viewOf(await openSafetensors(path), '')
}

/** Every tensor of `view` by its name there. */
async function valuesOf(view: WeightView): Promise<Weights> {
  const entries = view.names.map(async (name) => [name, await readStored(view.get(name), name)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

describe('a UNet', () => {
  it.each(['SD 1.5', 'SD 2.1', 'SDXL base', 'SSD-1B', 'KOALA', 'SDXL refiner'] satisfies Kind[])(
    'of %s in the layout of diffusers is the same under the names of LDM',
    async (kind) => {
      const plan = { ...plans[kind].unet, channels: 4, context: 6 }
      const weights = randomWeights(unetShapes(plan))
      const view = ldmUnet(await viewOfFile(diffusersUnet(weights, plan.resBlocks)))
      expect(await valuesOf(view)).toEqual(weights)
    },
  )

  it('under the names of LDM is left as it is', async () => {
    const view = await viewOfFile(randomWeights(unetShapes({ ...plans['SD 1.5'].unet, channels: 4, context: 6 })))
    expect(ldmUnet(view)).toBe(view)
  })

  it('takes a class embedding for the vector beside the timestep', async () => {
    const plan = { ...plans['SDXL base'].unet, channels: 4, context: 6, vector: 5 }
    const weights = randomWeights(unetShapes(plan))
    const renamed = Object.entries(diffusersUnet(weights, plan.resBlocks)).map(
      ([name, t]) => [name.replace('add_embedding', 'class_embedding'), t] as const,
    )
    expect(await valuesOf(ldmUnet(await viewOfFile(Object.fromEntries(renamed))))).toEqual(weights)
  })
})

describe('an autoencoder', () => {
  it.each(['old', 'new'] as const)(
    'in the layout of diffusers with %s attention names is the same under the names of LDM',
    async (names) => {
      const weights = randomWeights(autoencoderShapes(4))
      const view = ldmAutoencoder(await viewOfFile(diffusersVae(weights, names)))
      expect(await valuesOf(view)).toEqual(weights)
    },
  )
})

describe('a folder of weights', () => {
  const halves: Weights[] = [randomWeights({ a: [2] }), randomWeights({ b: [3] })]
  const all: Weights = { ...halves[0], ...halves[1] }
  const folderOf = async (files: readonly (readonly [name: string, weights: Weights, dtype?: Stored])[]) => {
    const folder = await emptyFolder()
    for (const [name, weights, dtype] of files) await writeSafetensors(join(folder, name), weights, dtype)
    return folder
  }
  const tensorsIn = async (folder: string) => valuesOf(viewOf((await openWeightFolder(folder))!, ''))

  it('is one network when its weights are in shards', async () => {
    const folder = await folderOf([
      ['model-00001-of-00002.safetensors', halves[0]!],
      ['model-00002-of-00002.safetensors', halves[1]!],
    ])
    expect(await tensorsIn(folder)).toEqual(all)
  })

  it('says how many shards are missing', async () => {
    const folder = await folderOf([['model-00001-of-00002.safetensors', halves[0]!]])
    await expect(openWeightFolder(folder)).rejects.toMatchObject({ message: expect.stringContaining('1 of 2') })
  })

  it('prefers half precision, then the file without a variant, and passes other files over', async () => {
    const [half, plain, other] = [1, 2, 3].map((n) => randomWeights({ [`w${n}`]: [n] })) as [Weights, Weights, Weights]
    const less = await folderOf([
      ['diffusion_pytorch_model.non_ema.safetensors', other],
      ['diffusion_pytorch_model.safetensors', plain],
      ['a_lora.safetensors', other],
    ])
    expect(await tensorsIn(less)).toEqual(plain)
    const more = await folderOf([
      ['diffusion_pytorch_model.safetensors', plain],
      ['diffusion_pytorch_model.fp16.safetensors', half, 'F16'],
    ])
    expect(Object.keys(await tensorsIn(more))).toEqual(['w1'])
  })

  it('is nothing without safetensors', async () => {
    expect(await openWeightFolder(await emptyFolder())).toBeUndefined()
    expect(await openWeightFolder('/nowhere')).toBeUndefined()
  })

  it('is a fault when it is there and cannot be read', async () => {
    const file = await writeSafetensors(join(await emptyFolder(), 'model.safetensors'), halves[0]!)
    await expect(openWeightFolder(file)).rejects.toMatchObject({ code: 'ENOTDIR' })
  })
})
