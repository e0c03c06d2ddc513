import { describe, expect, it } from 'vitest'
import { difference, type Picture } from '../support/drawing.ts'
import {
  at,
  checkpoint,
  decode,
  empty,
  encode,
  type Loaded,
  loadedBy,
  type Source,
  type Step,
  step,
  textToImage,
  type Wishes,
} from '../support/workflow.ts'
import { workflowServer } from '../support/workflow-server.ts'

const { drawn, compare } = workflowServer(/^(?!upscale)/)

const sd = checkpoint('sd1.safetensors')
const sdxl = checkpoint('sdxl.safetensors')
const full = checkpoint('sd-1.5.safetensors')
const house = encode(sd.clip, 'a red house')
const sea = encode(sd.clip, 'the blue sea')
const nothing = encode(sd.clip, '')

const withText = (positive: Source, wishes: Wishes = {}) => textToImage(sd, { positive, ...wishes })
const withModel = (model: Source, wishes?: Wishes) => textToImage({ ...sd, model }, wishes)

describe('text to image', () => {
  it.each(['sd-1.5', 'sd-2.1', 'sdxl-base', 'sdxl-refiner', 'inpainting', 'pix2pix', 'easel-demo'])(
    'draws with %s what seed and text say',
    async (name) => {
      const from = checkpoint(`${name}.safetensors`)
      await compare(
        textToImage(from),
        [textToImage(from, { seed: 1 })],
        [textToImage(from, { seed: 2 }), textToImage(from, { text: 'the blue sea' })],
      )
    },
  )

  it('is the same from the parts of a model as from its checkpoint', async () => {
    const parts: Loaded = {
      model: step('UNETLoader', { unet_name: 'sd1.safetensors', weight_dtype: 'default' }),
      clip: step('CLIPLoader', { clip_name: 'sd1.safetensors', type: 'stable_diffusion' }),
      vae: step('VAELoader', { vae_name: 'sd1.safetensors' }),
    }
    const diffusers = loadedBy(step('DiffusersLoader', { model_path: 'sd1' }))
    const other = step('VAELoader', { vae_name: 'other.safetensors' })
    await compare(textToImage(sd), [textToImage(parts), textToImage(diffusers)], [textToImage({ ...sd, vae: other })])
    const names = { clip_name1: 'sdxl-g.safetensors', clip_name2: 'sdxl-l.safetensors' }
    await compare(textToImage(sdxl), [
      textToImage({ ...sdxl, clip: step('DualCLIPLoader', { ...names, type: 'sdxl' }) }),
    ])
  })

  it('takes embeddings, weights and clip skip from the text encoder', async () => {
    const skipping = (stop_at_clip_layer: number) => step('CLIPSetLastLayer', { clip: sd.clip, stop_at_clip_layer })
    await compare(
      withText(house),
      [withText(encode(skipping(-1), 'a red house')), withText(encode(sd.clip, 'a (red:1.0) house'))],
      [
        withText(encode(skipping(-2), 'a red house')),
        withText(encode(sd.clip, 'a (red:1.5) house')),
        withText(encode(sd.clip, 'a red house embedding:mine')),
        withText(encode(sd.clip, 'a red house '.repeat(40))),
      ],
    )
  })
})

describe('SDXL', () => {
  const sized = (text: string, width = 64) =>
    step('CLIPTextEncodeSDXL', {
      ...{ clip: sdxl.clip, width, height: 64, crop_w: 0, crop_h: 0, target_width: 64, target_height: 64 },
      ...{ text_g: text, text_l: text },
    })
  const base = { positive: sized('a red house'), negative: sized('') }
  const refiner = checkpoint('sdxl-refiner.safetensors')
  const scored = (text: string, ascore: number) =>
    step('CLIPTextEncodeSDXLRefiner', { clip: refiner.clip, text, ascore, width: 64, height: 64 })
  const polish = { positive: scored('a red house', 6), negative: scored('', 2.5) }
  const part = (model: Source, texts: Readonly<Record<string, Source>>, latents: Source, from: number, to: number) =>
    step('KSamplerAdvanced', {
      ...{ model, ...texts, latent_image: latents, noise_seed: 1, steps: 4, cfg: 3 },
      ...{ sampler_name: 'euler', scheduler: 'normal', start_at_step: from, end_at_step: to },
      ...{ add_noise: from === 0 ? 'enable' : 'disable', return_with_leftover_noise: to < 4 ? 'enable' : 'disable' },
    })

  it('is told the sizes of the picture, which are those of its latents unless a node says otherwise', async () => {
    await compare(
      textToImage(sdxl),
      [textToImage(sdxl, base)],
      [textToImage(sdxl, { ...base, positive: sized('a red house', 1024) })],
    )
    await compare(textToImage(refiner), [textToImage(refiner, polish)])
  })

  it('hands over to its refiner in the middle of a schedule', async () => {
    const begun = part(sdxl.model, base, empty(), 0, 1)
    const whole = textToImage(sdxl, { ...base, steps: 4, cfg: 3 })
    const refined = (texts: typeof polish, from = 1, latents: Source = begun) =>
      decode(part(refiner.model, texts, latents, from, 10_000), sdxl.vae)
    const finished = decode(part(sdxl.model, base, begun, 1, 10_000), sdxl.vae)
    const untouched = refined(polish, 10_000, part(sdxl.model, base, empty(), 0, 10_000))
    await compare(whole, [finished, untouched], [refined(polish)])
    await compare(refined(polish), [], [refined({ ...polish, positive: scored('the blue sea '.repeat(99), 6) })])
  })
})

describe('a LoRA', () => {
  const onto = ({ model, clip }: Loaded, name: string, strength: number, ofText = strength): Loaded => {
    const strengths = { strength_model: strength, strength_clip: ofText }
    const lora = step('LoraLoader', { model, clip, lora_name: `${name}.safetensors`, ...strengths })
    return { ...sd, model: at(lora, 0), clip: at(lora, 1) }
  }
  const only = (model: Source, name: string, strength_model: number) =>
    step('LoraLoaderModelOnly', { model, lora_name: `${name}.safetensors`, strength_model })

  it('of strength 0 is none, and changes text encoder and network each on its own', async () => {
    await compare(
      textToImage(sd),
      [textToImage(onto(sd, 'first', 0)), withModel(only(sd.model, 'first', 0)), withModel(only(sd.model, 'sdxl', 1))],
      [textToImage(onto(sd, 'first', 1, 0)), textToImage(onto(sd, 'first', 0, 1)), textToImage(onto(sd, 'first', -1))],
    )
  })

  it('can be one of a chain, in any order', async () => {
    const chain = onto(onto(sd, 'first', 0.8), 'second', 0.5)
    const third = (from: Loaded) => textToImage({ ...from, model: only(from.model, 'first', 0.4) })
    const alone = { ...onto(sd, 'first', 0.8), model: only(onto(sd, 'first', 1.2).model, 'second', 0.5) }
    const [a, b, c] = await drawn(
      third(chain),
      third(onto(onto(sd, 'second', 0.5), 'first', 0.8)),
      textToImage({ ...alone, clip: chain.clip }),
    )
    expect(difference(a, b)).toBeLessThanOrEqual(2) // sums in another order
    expect(difference(a, c)).toBeLessThanOrEqual(2)
    await compare(third(chain), [], [textToImage(chain), textToImage(onto(sd, 'first', 0.8))])
  })
})

describe('a control network', () => {
  const orange = (width = 64, height = 64) => step('EmptyImage', { width, height, batch_size: 1, color: 0xff8800 })
  const net = (name: string) => step('ControlNetLoader', { control_net_name: `${name}.safetensors` })
  const textsFor = ({ clip }: Loaded): readonly Source[] => [encode(clip, 'a red house'), encode(clip, '')]
  const none = textsFor(sd)
  const applied = ([positive, negative]: readonly Source[], name: string, strength: number, more: object = {}) => {
    const inputs = { positive, negative, control_net: net(name), image: orange(), strength }
    const made = step('ControlNetApplyAdvanced', { ...inputs, start_percent: 0, end_percent: 1, ...more })
    return [at(made, 0), at(made, 1)]
  }
  const steered = ([positive, negative]: readonly Source[], from = sd) =>
    textToImage(from, { positive, negative, steps: 4 })

  it('steers as strongly and as long as it is told to', async () => {
    const early = applied(none, 'sd1', 1, { end_percent: 0.5 })
    const never = applied(none, 'sd1', 1, { end_percent: 0 })
    const simple = { conditioning: none[0], control_net: net('sd1'), image: orange(), strength: 1 }
    await compare(steered(none), [steered(applied(none, 'sd1', 0)), steered(never)], [steered(early)])
    await compare(
      steered(applied(none, 'sd1', 1)),
      [
        steered([step('ControlNetApply', simple), none[1]!]),
        steered(applied(none, 'sd1', 1, { image: orange(200, 77) })),
      ],
      [steered(applied(none, 'sd1', 0.5)), steered(early)],
    )
    const texts = textsFor(sdxl)
    const large = (strength: number) => steered(applied(texts, 'sdxl', strength), sdxl)
    await compare(steered(texts, sdxl), [large(0)], [large(1)])
  })

  it('is joined by another and by an adapter', async () => {
    const twice = applied(applied(none, 'sd1', 0.5), 'sd1', 0.5, { image: orange(32, 32) })
    await compare(
      steered(applied(applied(none, 'sd1', 1), 'sd1', 0)),
      [steered(applied(none, 'sd1', 1))],
      [steered(none)],
    )
    const [once, added] = await drawn(steered(applied(none, 'sd1', 1)), steered(twice))
    expect(difference(once, added)).toBeLessThanOrEqual(1) // two halves of one plain hint
    const texts = textsFor(full)
    const adapted = (strength: number) => steered(applied(texts, 'adapter', strength), full)
    await compare(steered(texts, full), [adapted(0)], [adapted(1)])
  })
})

describe('conditioning', () => {
  const area = (conditioning: Source, x: number, width: number) =>
    step('ConditioningSetArea', { conditioning, width, height: 64, x, y: 0, strength: 1 })
  const both = (conditioning_1: Source, conditioning_2: Source) =>
    step('ConditioningCombine', { conditioning_1, conditioning_2 })
  const masked = (conditioning: Source, value: number, set_cond_area = 'default') =>
    step('ConditioningSetMask', { conditioning, mask: solid(value), strength: 1, set_cond_area })
  const ranged = (conditioning: Source, start: number, end: number) =>
    step('ConditioningSetTimestepRange', { conditioning, start, end })
  const average = (conditioning_to_strength: number) =>
    step('ConditioningAverage', { conditioning_to: house, conditioning_from: sea, conditioning_to_strength })
  const solid = (value: number) => step('SolidMask', { value, width: 40, height: 24 })
  const wide = (positive: Source): Step => withText(positive, { latents: empty(128, 64) })

  it('that holds everywhere and always is as if nothing were said', async () => {
    await compare(withText(house), [
      ...[area(house, 0, 64), masked(house, 1), ranged(house, 0, 1), average(1), both(house, house)].map((each) =>
        withText(each),
      ),
    ])
    await compare(withText(sea), [withText(average(0))], [withText(average(0.5))])
  })

  it('holds in its area, under its mask, in its steps', async () => {
    const areas = both(area(house, 0, 64), area(sea, 64, 64))
    await compare(wide(areas), [wide(both(area(sea, 64, 64), area(house, 0, 64)))], [wide(house), wide(sea)])
    const half = step('ConditioningSetAreaPercentage', {
      conditioning: sea,
      width: 0.5,
      height: 1,
      x: 0.5,
      y: 0,
      strength: 1,
    })
    await compare(wide(areas), [wide(both(area(house, 0, 64), half))])
    await compare(withText(house), [withText(both(house, masked(sea, 0)))], [withText(both(house, masked(sea, 0.5)))])
    const early = both(ranged(house, 0, 0.4), ranged(sea, 0.4, 1))
    await compare(withText(early, { steps: 6 }), [], [withText(sea, { steps: 6 })])
  })

  it('is joined, left out, or silenced', async () => {
    const joined = step('ConditioningConcat', { conditioning_to: house, conditioning_from: sea })
    const silent = step('ConditioningZeroOut', { conditioning: nothing })
    await compare(withText(house), [], [withText(joined), withText(house, { negative: silent })])
    await compare(withText(house, { cfg: 1 }), [withText(house, { negative: sea, cfg: 1 })])
  })
})

describe('the order of pictures', () => {
  it('is that of the graph', async () => {
    const [two, one, three]: readonly (readonly Picture[])[] = [
      await drawn(textToImage(sd, { seed: 2 })),
      await drawn(textToImage(sd, { seed: 1 })),
      await drawn(textToImage(sd, { seed: 3 })),
    ]
    const together = await drawn(...[2, 1, 3].map((seed) => textToImage(sd, { seed })))
    expect(together).toEqual([...two!, ...one!, ...three!])
  })
})
