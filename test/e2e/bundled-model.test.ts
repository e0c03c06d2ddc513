import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Prompt, PromptAnswer } from '../../src/contracts/prompt.ts'
import { type Server, startServer } from '../support/server.ts'

const example = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8')) as { readonly prompt: Prompt }
let server: Server
/** Keeps no results, so that it computes every picture anew. */
let forgetful: Server

beforeAll(async () => {
  server = await startServer({ MODEL_DIR: resolve('models') })
  forgetful = await startServer({ MODEL_DIR: resolve('models'), RESULT_CACHE_MB: '0' })
}, 60_000)
afterAll(() => Promise.all([server.stop(), forgetful.stop()]))

/** The example with other words, and fewer steps to be quick. */
function promptFor(text: string, sampling: Readonly<Record<string, unknown>> = {}): Prompt {
  const prompt = structuredClone(example.prompt)
  prompt['2']!.inputs.text = text
  Object.assign(prompt['5']!.inputs, { steps: 8, ...sampling })
  return prompt
}

async function draw(body: Readonly<Record<string, unknown>>, by = server): Promise<PromptAnswer> {
  const response = await by.post(body)
  const answer = (await response.json()) as PromptAnswer
  expect(response.status, JSON.stringify(answer).slice(0, 500)).toBe(200)
  return answer
}

const pictureOf = ({ images }: PromptAnswer, i = 0) => Buffer.from(images[i]!, 'base64')

/** Mean red, green and blue of the rows between two fractions of the height. */
async function colour(picture: Buffer, from: number, to: number): Promise<readonly [number, number, number]> {
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true })
  const row = info.width * info.channels
  const part = data.subarray(Math.floor(from * info.height) * row, Math.floor(to * info.height) * row)
  const mean = (channel: number) => {
    const values = part.filter((_, i) => i % info.channels === channel)
    return values.reduce((sum, value) => sum + value, 0) / values.length
  }
  return [mean(0), mean(1), mean(2)]
}

/** The largest difference of two pictures, of 255. */
async function difference(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((picture) => sharp(picture).raw().toBuffer()))
  return a!.reduce((worst, value, at) => Math.max(worst, Math.abs(value - b![at]!)), 0)
}
const brightness = ([r, g, b]: readonly [number, number, number]) => (r + g + b) / 3

it('draws the example that the README shows', async () => {
  const answer = await draw(example)
  expect(answer.filenames).toEqual([`${answer.id}_easel_00001_.png`])
  const { width, height, format, comments } = await sharp(pictureOf(answer)).metadata()
  expect({ width, height, format }).toEqual({ width: 256, height: 256, format: 'png' })
  expect(comments?.map(({ keyword }) => keyword)).toEqual(['prompt'])
})

it('gives the same bytes for the same prompt, without running a node again', async () => {
  const [first, second] = [await draw(example), await draw(example)]
  expect(second.images).toEqual(first.images)
  const nodes = Object.values(second.stats.comfy_execution.nodes)
  expect(nodes.map(({ cached }) => cached)).toEqual(nodes.map(() => true))
})

it('runs no node again for the same graph under other node ids', async () => {
  const first = await draw(example)
  const renamed = JSON.parse(JSON.stringify(example.prompt).replaceAll(/"(\d)"/g, '"node $1"')) as Prompt
  const second = await draw({ prompt: renamed })
  const nodes = Object.values(second.stats.comfy_execution.nodes)
  expect(nodes.map(({ cached }) => cached)).toEqual(nodes.map(() => true))
  const pixels = (answer: PromptAnswer) => sharp(pictureOf(answer)).raw().toBuffer()
  expect(await pixels(second)).toEqual(await pixels(first)) // the files differ: the graph is written into them
})

it('follows the words: the hour and the ground change what is drawn', async () => {
  const picture = async (text: string) => pictureOf(await draw({ prompt: promptFor(text, { cfg: 5, steps: 12 }) }))
  const [night, day] = [await picture('the sea at night'), await picture('the sea during the day')]
  expect(brightness(await colour(night, 0, 0.3))).toBeLessThan(brightness(await colour(day, 0, 0.3)) - 40)
  const [meadow, snow] = [await picture('a green meadow, daytime'), await picture('a snowy field, daytime')]
  const [red, green, blue] = await colour(meadow, 0.8, 1)
  expect(green).toBeGreaterThan(Math.max(red, blue) + 15)
  expect(brightness(await colour(snow, 0.8, 1))).toBeGreaterThan(brightness([red, green, blue]) + 30)
})

it('draws a batch, each picture from its own noise', async () => {
  const prompt = promptFor('hills')
  prompt['4']!.inputs.batch_size = 3
  const { images, filenames } = await draw({ prompt, id: 'batch' })
  expect(filenames).toEqual(['batch_easel_00001_.png', 'batch_easel_00002_.png', 'batch_easel_00003_.png'])
  expect(new Set(images).size).toBe(3)
})

it('gives prompts that run side by side the pictures they would have got alone', async () => {
  const prompts = ['hills', 'the sea', 'a desert'].map((text, i) => promptFor(text, { seed: 100 + i, steps: 4 + i }))
  const together = await Promise.all(prompts.map((prompt) => draw({ prompt })))
  for (const [i, prompt] of prompts.entries())
    expect(await difference(pictureOf(together[i]!), pictureOf(await draw({ prompt }, forgetful)))).toBeLessThanOrEqual(
      1,
    )
})

it('keeps a 64-bit seed exactly, in the picture and in the echo', async () => {
  const body = (seed: string) =>
    JSON.stringify({ prompt: promptFor('hills', { seed: 0 }) }).replace('"seed":0', `"seed":${seed}`)
  const answer = await (await server.post(body('18446744073709551615'))).text()
  expect(answer).toContain('"seed":18446744073709551615')
  const tooLarge = await server.post(body('18446744073709551616'))
  expect(tooLarge.status).toBe(400)
})

it('starts from a picture that comes with the request, and keeps what a mask protects', async () => {
  const source = await sharp({ create: { width: 256, height: 256, channels: 3, background: '#3070c0' } })
    .png()
    .toBuffer()
  const prompt = promptFor('a desert at sunset', { denoise: 0.6, latent_image: ['9', 0] })
  prompt['8'] = { class_type: 'LoadImage', inputs: { image: `data:image/png;base64,${source.toString('base64')}` } }
  prompt['9'] = { class_type: 'VAEEncode', inputs: { pixels: ['8', 0], vae: ['1', 2] } }
  const answer = await draw({ prompt })
  expect(JSON.stringify(answer.prompt)).not.toContain('base64')
  const [red, , blue] = await colour(pictureOf(answer), 0.8, 1)
  expect(blue - red).toBeLessThan(0xc0 - 0x30 - 20) // no longer the blue it began with

  prompt['10'] = { class_type: 'LoadImageMask', inputs: { image: await upperHalfMask(), channel: 'red' } }
  prompt['11'] = { class_type: 'SetLatentNoiseMask', inputs: { samples: ['9', 0], mask: ['10', 0] } }
  prompt['5']!.inputs.latent_image = ['11', 0]
  Object.assign(prompt['5']!.inputs, { denoise: 1, steps: 20 })
  const masked = pictureOf(await draw({ prompt }))
  const [above, below] = [await colour(masked, 0, 0.4), await colour(masked, 0.6, 1)]
  expect(below[2] - below[0]).toBeGreaterThan(above[2] - above[0] + 60) // the blue stayed, the desert's sky is not blue
})

/** White above, black below, in base64. */
async function upperHalfMask(): Promise<string> {
  const white = await sharp({ create: { width: 256, height: 128, channels: 3, background: 'white' } })
    .png()
    .toBuffer()
  const mask = sharp({ create: { width: 256, height: 256, channels: 3, background: 'black' } })
  return (
    await mask
      .composite([{ input: white, top: 0, left: 0 }])
      .png()
      .toBuffer()
  ).toString('base64')
}

it.each([
  ['jpeg', { quality: 70, progressive: true }, 'jpeg'],
  ['webp', { lossless: true }, 'webp'],
  ['png', { quality: 80 }, 'png'],
] as const)('answers in %s when asked to', async (format, options, found) => {
  const answer = await draw({ prompt: promptFor('hills'), convert_output: { format, options } })
  expect(answer.filenames[0]).toMatch(new RegExp(`\\.${format}$`))
  expect((await sharp(pictureOf(answer)).metadata()).format).toBe(found)
})

it.each(['euler', 'euler_ancestral', 'heun', 'dpmpp_2m', 'dpmpp_2m_sde', 'ddim', 'lcm'])(
  'draws with %s, twice the same',
  async (sampler_name) => {
    const prompt = promptFor('the sea at sunset', { sampler_name, steps: 4 })
    const [first, second] = [await draw({ prompt }, forgetful), await draw({ prompt }, forgetful)]
    expect((await sharp(pictureOf(first)).stats()).entropy).toBeGreaterThan(2)
    expect(second.images).toEqual(first.images)
    expect(second.stats.comfy_execution.nodes['5']!.cached).toBe(false)
  },
)

it('finishes one schedule in two KSamplerAdvanced nodes as one KSampler does', async () => {
  const prompt = promptFor('hills', { sampler_name: 'euler', scheduler: 'normal', seed: 5 })
  const whole = await draw({ prompt })
  const part = (inputs: object) => ({
    class_type: 'KSamplerAdvanced',
    inputs: { ...prompt['5']!.inputs, noise_seed: 5, ...inputs },
  })
  const split: Prompt = {
    ...prompt,
    '5': part({
      add_noise: 'disable',
      latent_image: ['12', 0],
      start_at_step: 3,
      end_at_step: 10_000,
      return_with_leftover_noise: 'disable',
    }),
    '12': part({
      add_noise: 'enable',
      latent_image: ['4', 0],
      start_at_step: 0,
      end_at_step: 3,
      return_with_leftover_noise: 'enable',
    }),
  }
  expect(await difference(pictureOf(whole), pictureOf(await draw({ prompt: split })))).toBeLessThanOrEqual(2)
})
