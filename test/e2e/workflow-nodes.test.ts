import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { PromptAnswer } from '../../src/contracts/prompt.ts'
import { difference, type Picture } from '../support/drawing.ts'
import {
  at,
  checkpoint,
  decode,
  empty,
  encode,
  promptOf,
  type Source,
  type Step,
  sample,
  step,
  textToImage,
  type Wishes,
} from '../support/workflow.ts'
import { workflowServer } from '../support/workflow-server.ts'

const { drawn, compare, post } = workflowServer(/^(checkpoints\/(sd1|inpainting|pix2pix)|upscale_models)/)

const sd = checkpoint('sd1.safetensors')
const house = encode(sd.clip, 'a red house')
const nothing = encode(sd.clip, '')
const withModel = (type: string, inputs: object, wishes?: Wishes) =>
  textToImage({ ...sd, model: step(type, { model: sd.model, ...inputs }) }, wishes)

const sizeOf = ({ width, height }: Picture) => [width, height]

describe('a picture that is painted over', () => {
  const photo = step('ImageBlend', {
    image1: step('EmptyImage', { width: 128, height: 64, batch_size: 1, color: 0x3070c0 }),
    image2: step('ImageAddNoise', {
      image: step('EmptyImage', { width: 128, height: 64, batch_size: 1, color: 0 }),
      seed: 1,
      strength: 1,
    }),
    ...{ blend_factor: 0.3, blend_mode: 'normal' },
  })
  const encoded = step('VAEEncode', { pixels: photo, vae: sd.vae })
  const solid = (value: number, width: number) => step('SolidMask', { value, width, height: 64 })
  /** Its right half. */
  const mask = step('MaskComposite', {
    destination: solid(0, 128),
    source: solid(1, 64),
    x: 64,
    y: 0,
    operation: 'add',
  })
  const half = (samples: Source, x: number, vae = sd.vae) =>
    decode(step('LatentCrop', { samples, width: 64, height: 64, x, y: 0 }), vae)

  it('is itself at denoise 0, and another one above', async () => {
    const again = (denoise: number) => textToImage(sd, { latents: encoded, denoise })
    await compare(decode(encoded, sd.vae), [again(0)], [again(0.4), again(1)])
  })

  it('keeps its latents outside of a mask', async () => {
    const masked = step('SetLatentNoiseMask', { samples: encoded, mask })
    const forInpaint = step('VAEEncodeForInpaint', { pixels: photo, vae: sd.vae, mask, grow_mask_by: 6 })
    for (const latents of [masked, forInpaint]) {
      const painted = sample(sd, { latents, steps: 3 })
      const [before, after, ...right] = await drawn(
        half(latents, 0),
        half(painted, 0),
        half(latents, 64),
        half(painted, 64),
      )
      expect(difference(before, after)).toBeLessThanOrEqual(1) // they are scaled and scaled back
      expect(difference(right[0], right[1])).toBeGreaterThan(2)
    }
    const everywhere = step('SetLatentNoiseMask', { samples: encoded, mask: solid(1, 13) })
    await compare(textToImage(sd, { latents: everywhere }), [textToImage(sd, { latents: encoded })])
  })

  it('is shown to an inpainting model', async () => {
    const model = checkpoint('inpainting.safetensors')
    const shown = (pixels: Source, noise_mask: boolean) => {
      const [positive, negative] = [encode(model.clip, 'a red house'), encode(model.clip, '')]
      return step('InpaintModelConditioning', { positive, negative, vae: model.vae, pixels, mask, noise_mask })
    }
    const painted = (by: Step, latents: Source = at(by, 2)) =>
      sample(model, { positive: at(by, 0), negative: at(by, 1), latents })
    const kept = shown(photo, true)
    const [before, after] = await drawn(half(at(kept, 2), 0, model.vae), half(painted(kept), 0, model.vae))
    expect(difference(before, after)).toBeLessThanOrEqual(1)
    const dark = step('ImageInvert', { image: photo })
    const whole = (pixels: Source) => decode(painted(shown(pixels, false), empty(128, 64)), model.vae)
    await compare(whole(photo), [], [whole(dark)]) // the noise is the same, what is seen beside it is not
  })

  it('is shown to a model that follows instructions', async () => {
    const model = checkpoint('pix2pix.safetensors')
    const edited = (pixels: Source) => {
      const [positive, negative] = [encode(model.clip, 'make it red'), encode(model.clip, '')]
      const made = step('InstructPixToPixConditioning', { positive, negative, vae: model.vae, pixels })
      return textToImage(model, { positive: at(made, 0), negative: at(made, 1), latents: at(made, 2) })
    }
    await compare(edited(photo), [], [edited(step('ImageInvert', { image: photo }))])
  })

  it('grows to the sides', async () => {
    const sides = { left: 0, top: 32, right: 32, bottom: 0, feathering: 8 }
    const padded = step('ImagePadForOutpaint', { image: photo, ...sides })
    const inputs = { pixels: padded, vae: sd.vae, mask: at(padded, 1), grow_mask_by: 0 }
    const [picture] = await drawn(textToImage(sd, { latents: step('VAEEncodeForInpaint', inputs) }))
    expect(sizeOf(picture!)).toEqual([160, 96])
  })
})

describe('enlarging', () => {
  it('samples again at the larger size', async () => {
    const larger = (upscale_method: string) =>
      step('LatentUpscaleBy', { samples: sample(sd), upscale_method, scale_by: 1.5 })
    const fixed = (method: string) => textToImage(sd, { latents: larger(method), denoise: 0.5, seed: 2 })
    const pictures = await drawn(fixed('bislerp'), fixed('nearest-exact'), decode(larger('bislerp'), sd.vae))
    expect(pictures.map(sizeOf)).toEqual([1, 2, 3].map(() => [96, 96]))
    expect(difference(pictures[0], pictures[1])).toBeGreaterThan(2)
    expect(difference(pictures[0], pictures[2])).toBeGreaterThan(2)
  })

  it('goes through a network for pictures, and back by a kernel', async () => {
    const by = (name: string, image: Source) =>
      step('ImageUpscaleWithModel', {
        upscale_model: step('UpscaleModelLoader', { model_name: `${name}.safetensors` }),
        image,
      })
    const scaled = (image: Source, scale_by: number) =>
      step('ImageScaleBy', { image, upscale_method: 'lanczos', scale_by })
    const odd = step('EmptyImage', { width: 37, height: 5, batch_size: 2, color: 255 })
    const pictures = await drawn(by('x4', textToImage(sd)), scaled(by('x2', textToImage(sd)), 0.5), by('x2', odd))
    expect(pictures.map(sizeOf)).toEqual([
      [256, 256],
      [64, 64],
      [74, 10],
      [74, 10],
    ])
  })
})

describe('custom sampling', () => {
  const euler = step('KSamplerSelect', { sampler_name: 'euler' })
  const steps = (count: number) =>
    step('BasicScheduler', { model: sd.model, scheduler: 'normal', steps: count, denoise: 1 })
  const guided = step('CFGGuider', { model: sd.model, positive: house, negative: nothing, cfg: 5 })
  const noise = step('RandomNoise', { noise_seed: 1 })
  const run = (sigmas: Source, guider: Step = guided, noise_: Step = noise, latent_image: Source = empty()) =>
    step('SamplerCustomAdvanced', { noise: noise_, guider, sampler: euler, sigmas, latent_image })

  it('of the same parts gives what KSampler gives', async () => {
    const inputs = { model: sd.model, positive: house, negative: nothing, sampler: euler, sigmas: steps(2) }
    const custom = step('SamplerCustom', { ...inputs, add_noise: true, noise_seed: 1, cfg: 5, latent_image: empty() })
    await compare(textToImage(sd), [decode(run(steps(2)), sd.vae), decode(custom, sd.vae)])
    const basic = step('BasicGuider', { model: sd.model, conditioning: house })
    await compare(textToImage(sd, { cfg: 1 }), [decode(run(steps(2), basic), sd.vae)])
  })

  it('goes on where it stopped', async () => {
    const split = step('SplitSigmas', { sigmas: steps(4), step: 2 })
    const begun = run(split)
    const finished = (from: Source) => decode(run(at(split, 1), guided, step('DisableNoise'), from), sd.vae)
    await compare(textToImage(sd, { steps: 4 }), [finished(begun)], [finished(at(begun, 1)), decode(begun, sd.vae)])
  })
})

it('changes a model, or not when the change is none', async () => {
  const shrunk = {
    block_number: 2,
    start_percent: 0,
    end_percent: 1,
    downscale_after_skip: true,
    downscale_method: 'bicubic',
    upscale_method: 'bicubic',
  }
  const tiles = { swap_size: 2, max_depth: 0, scale_depth: false }
  await compare(
    textToImage(sd),
    [
      withModel('RescaleCFG', { multiplier: 0 }),
      withModel('HyperTile', { tile_size: 2048, ...tiles }),
      withModel('ModelSamplingDiscrete', { sampling: 'eps', zsnr: false }),
      withModel('PatchModelAddDownscale', { ...shrunk, start_percent: 1, downscale_factor: 2 }),
    ],
    [
      withModel('FreeU_V2', { b1: 1.3, b2: 1.4, s1: 0.9, s2: 0.2 }),
      withModel('HyperTile', { tile_size: 32, ...tiles }),
      withModel('ModelSamplingDiscrete', { sampling: 'v_prediction', zsnr: true }),
      withModel('PatchModelAddDownscale', { ...shrunk, downscale_factor: 2 }),
    ],
  )
})

describe('a batch', () => {
  const three = sample(sd, { latents: empty(64, 64, 3) })
  const from = (samples: Source, batch_index: number, length = 1) =>
    step('LatentFromBatch', { samples, batch_index, length })

  it('has noise for each of its pictures, wherever that picture is made', async () => {
    const pictures = await drawn(decode(three, sd.vae), textToImage(sd, { latents: from(empty(64, 64, 3), 1, 2) }))
    expect(pictures).toHaveLength(5)
    expect([difference(pictures[1], pictures[3]), difference(pictures[2], pictures[4])]).toEqual([0, 0])
    expect(difference(pictures[0], pictures[1])).toBeGreaterThan(2)
  })

  it('keeps its order when it is cut, joined, repeated, and regrouped', async () => {
    const all = await drawn(decode(three, sd.vae))
    const regrouped = step('RebatchLatents', { latents: empty(64, 64, 3), batch_size: 2 })
    expect(await drawn(textToImage(sd, { latents: regrouped }))).toEqual(all)
    const joined = step('LatentBatch', { samples1: from(three, 2), samples2: from(three, 0, 2) })
    expect(await drawn(decode(joined, sd.vae))).toEqual([all[2], all[0], all[1]])
    const images = step('ImageBatch', {
      image1: decode(from(three, 1), sd.vae),
      image2: decode(from(three, 0), sd.vae),
    })
    expect(await drawn(images)).toEqual([all[1], all[0]])
    const fixed = step('LatentBatchSeedBehavior', { samples: empty(64, 64, 2), seed_behavior: 'fixed' })
    const repeated = step('RepeatLatentBatch', { samples: from(three, 0), amount: 2 })
    expect(await drawn(textToImage(sd, { latents: fixed }), decode(repeated, sd.vae))).toEqual(
      [1, 2, 3, 4].map(() => all[0]),
    )
  })
})

it('puts one picture into another through a mask', async () => {
  const plain = (color: number, width = 64) => step('EmptyImage', { width, height: 64, batch_size: 1, color })
  const mask = step('SolidMask', { value: 1, width: 16, height: 64 })
  const inputs = { destination: plain(0xff0000), source: plain(0x0000ff, 16), x: 40, y: 0, resize_source: false }
  const [picture] = await drawn(step('ImageCompositeMasked', { ...inputs, mask }))
  const blue = [...Array(64).keys()].filter((x) => picture!.data[x * 3 + 2] === 255)
  expect(blue).toEqual([...Array(16).keys()].map((x) => x + 40))
})

it('makes moving pictures of a batch, in its order', async () => {
  const images = textToImage(sd, { latents: empty(64, 64, 3) })
  const outputs = [
    step('SaveAnimatedWEBP', { images, filename_prefix: 'a', fps: 5, lossless: true, quality: 80, method: 'default' }),
    step('SaveAnimatedPNG', { images, filename_prefix: 'b', fps: 5, compress_level: 4 }),
  ]
  const answer = (await (await post({ prompt: promptOf(...outputs) })).json()) as PromptAnswer
  expect(answer.filenames.map((name) => name.slice(name.lastIndexOf('_a_') + 1).replace(/^.*_b_/, 'b_'))).toEqual([
    'a_00001_.webp',
    'b_00001_.png',
  ])
  const webp = sharp(Buffer.from(answer.images[0]!, 'base64'), { animated: true })
  const { pages, delay } = await webp.metadata()
  expect({ pages, delay }).toEqual({ pages: 3, delay: [200, 200, 200] })
  const frames = await webp.removeAlpha().raw().toBuffer()
  const stills = await drawn(images)
  expect(Buffer.compare(frames, Buffer.concat(stills.map(({ data }) => data)))).toBe(0)
})

it('takes texts, seeds, and sizes from other nodes', async () => {
  const text = step('StringConcatenate', {
    string_a: step('PrimitiveString', { value: 'a red' }),
    string_b: 'house',
    delimiter: ' ',
  })
  const rest = { case_insensitive: false, multiline: false, dotall: false, count: 0 }
  const replaced = step('RegexReplace', { string: 'a green house', regex_pattern: 'gr\\w+', replace: 'red', ...rest })
  const size = step('GetImageSize', { image: textToImage(sd) })
  const latents = step('EmptyLatentImage', { width: at(size, 0), height: at(size, 1), batch_size: 1 })
  const numbers = { seed: step('PrimitiveInt', { value: 1 }), cfg: step('PrimitiveFloat', { value: 5 }) }
  const counted = { steps: step('StringLength', { string: 'ab' }) }
  await compare(
    textToImage(sd),
    [textToImage(sd, { text, latents, ...numbers }), textToImage(sd, { text: replaced, ...counted })],
    [textToImage(sd, { seed: step('PrimitiveInt', { value: 2 }) })],
  )
})
