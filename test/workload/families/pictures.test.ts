import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { beforeAll, expect, it } from 'vitest'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { createDraw } from '../../support/draw.ts'
import { sharedFolder } from '../../support/folder.ts'
import { node } from '../../support/prompts.ts'
import { checkpointWriter, fileNameOf, type Kind } from '../../support/random-checkpoints.ts'

const models = sharedFolder()
const fileOf = checkpointWriter(() => join(models(), 'checkpoints'))
beforeAll(async () => {
  await mkdir(join(models(), 'checkpoints'))
})

const sampling = { seed: 7, steps: 3, cfg: 4, sampler_name: 'dpmpp_2m_sde', scheduler: 'karras', denoise: 1 }
const latent = node('EmptyLatentImage', { width: 64, height: 96, batch_size: 1 })

/** A whole prompt for a checkpoint of `kind`; `changes` replaces nodes of it. */
function promptFor(kind: Kind, changes: Prompt = {}): Prompt {
  return {
    model: node('CheckpointLoaderSimple', { ckpt_name: fileNameOf(kind) }),
    positive: node('CLIPTextEncode', { text: 'a (red:1.3) house by the sea', clip: ['model', 1] }),
    negative: node('CLIPTextEncode', { text: 'blurry', clip: ['model', 1] }),
    latent,
    sampler: node('KSampler', {
      ...sampling,
      model: ['model', 0],
      positive: ['positive', 0],
      negative: ['negative', 0],
      latent_image: ['latent', 0],
    }),
    image: node('VAEDecode', { samples: ['sampler', 0], vae: ['model', 2] }),
    out: node('SaveImage', { images: ['image', 0], filename_prefix: 'x' }),
    ...changes,
  }
}

/** Draws prompts for a checkpoint of `kind` with sessions of its own. */
async function drawerOf(kind: Kind): Promise<(changes?: Prompt) => Promise<Buffer>> {
  await fileOf(kind)
  const draw = await createDraw(models())
  return (changes) => draw(promptFor(kind, changes))
}

/** How much a picture holds: 0 for one colour. */
const entropyOf = async (picture: Buffer) => (await sharp(picture).stats()).entropy

/** The prompt's text with the sizes that SDXL is told. */
const told = (width: number) =>
  node('CLIPTextEncodeSDXL', {
    clip: ['model', 1],
    ...{ width, height: 96, crop_w: 0, crop_h: 0, target_width: 64, target_height: 96 },
    ...{ text_g: 'a (red:1.3) house by the sea', text_l: 'a (red:1.3) house by the sea' },
  })

it('a picture of SD 1.5 structure is the same to the byte, drawn anew', async () => {
  const [one, other] = [await drawerOf('SD 1.5'), await drawerOf('SD 1.5')]
  const first = await one()
  expect((await sharp(first).metadata()).height).toBe(96)
  expect(await entropyOf(first)).toBeGreaterThan(2)
  expect((await other()).equals(first)).toBe(true)
  const cat = { positive: node('CLIPTextEncode', { text: 'a cat', clip: ['model', 1] }) }
  expect((await one(cat)).equals(first)).toBe(false)
})

it('a picture of SDXL structure is the same to the byte, drawn anew, and another one for other sizes', async () => {
  const [one, other] = [await drawerOf('SDXL base'), await drawerOf('SDXL base')]
  const first = await one()
  expect(await entropyOf(first)).toBeGreaterThan(2)
  expect((await other()).equals(first)).toBe(true)
  expect((await one({ positive: told(64) })).equals(first)).toBe(true) // the sizes that latents tell by themselves
  expect((await one({ positive: told(640) })).equals(first)).toBe(false)
})

it.each(['SD 2.1', 'SDXL refiner'] as const)('a picture of %s structure', async (kind) => {
  expect(await entropyOf(await (await drawerOf(kind))())).toBeGreaterThan(2)
})

it.each([
  ['SD 1.5 inpainting', 'InpaintModelConditioning'],
  ['InstructPix2Pix', 'InstructPixToPixConditioning'],
] as const)('%s looks at the picture that %s shows it', async (kind, type) => {
  const drawn = await drawerOf(kind)
  const shown = (color: number): Prompt => ({
    source: node('EmptyImage', { width: 64, height: 96, batch_size: 1, color }),
    whole: node('SolidMask', { value: 0, width: 64, height: 96 }),
    part: node('SolidMask', { value: 1, width: 64, height: 48 }),
    mask: node('MaskComposite', { destination: ['whole', 0], source: ['part', 0], x: 0, y: 0, operation: 'add' }),
    pictured: node(type, {
      positive: ['positive', 0],
      negative: ['negative', 0],
      vae: ['model', 2],
      pixels: ['source', 0],
      ...(type === 'InpaintModelConditioning' && { mask: ['mask', 0], noise_mask: true }),
    }),
    sampler: node('KSampler', {
      ...sampling,
      model: ['model', 0],
      positive: ['pictured', 0],
      negative: ['pictured', 1],
      latent_image: ['pictured', 2],
    }),
  })
  const [red, blue] = [await drawn(shown(0xff0000)), await drawn(shown(0x0000ff))]
  expect(red.equals(blue)).toBe(false)
  expect(await entropyOf(red)).toBeGreaterThan(2)
})
