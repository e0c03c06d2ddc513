import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { loadFormats } from '../../../src/workload/image/format.ts'
import { tiffTexts } from '../../support/tiff-texts.ts'

const formats = await loadFormats()
const metadata = {
  prompt: { '1': { class_type: 'Ü', inputs: { seed: 2n ** 64n - 1n } } },
  workflow: { nodes: [] },
  n: 1,
}
const texts = [
  [0x010e, 'n:1'], // short enough to stand in the directory itself
  [0x010f, 'workflow:{"nodes": []}'],
  [0x0110, 'prompt:{"1": {"class_type": "\\u00dc", "inputs": {"seed": 18446744073709551615}}}'],
]

const encoded = (name: string, options: object, channels: 3 | 4 = 3, side = 9) =>
  formats
    .get(name)!
    .encode({ data: new Uint8Array(side * side * channels).fill(99), width: side, height: side, channels }, options)
const described = async (name: string, file: Buffer, about: Readonly<Record<string, unknown>> = metadata) => {
  const whole = formats.get(name)!.withMetadata!(file, about)
  return {
    ...(await sharp(whole, { failOn: 'warning' }).metadata()),
    pixels: await sharp(whole).raw().toBuffer(),
    whole,
  }
}

describe('converted pictures tell their prompt as EXIF', () => {
  it.each([
    ['jpeg', {}, 3],
    ['jpg', { mozjpeg: true }, 3],
    ['webp', {}, 3],
    ['webp', { lossless: true }, 3],
    ['webp', {}, 4],
    ['webp', { lossless: true }, 4],
  ] as const)('%s with %o and %d channels', async (name, options, channels) => {
    const file = await encoded(name, options, channels)
    const { exif, pixels, width, height, hasAlpha } = await described(name, file)
    expect([...tiffTexts(exif!)]).toEqual(texts)
    expect({ width, height, hasAlpha }).toEqual({ width: 9, height: 9, hasAlpha: channels === 4 })
    expect(pixels).toEqual(await sharp(file).raw().toBuffer())
  })

  it('a WebP of odd size as well', async () => {
    const { exif, width } = await described('webp', await encoded('webp', { quality: 3 }, 3, 301), { prompt: 'odd' })
    expect([width, [...tiffTexts(exif!)]]).toEqual([301, [[0x0110, 'prompt:"odd"']]])
  })

  it('a JPEG as much as it has room for, the prompt first', async () => {
    const file = await encoded('jpeg', {})
    const { exif } = await described('jpeg', file, { workflow: 'x'.repeat(65_000), prompt: 'y'.repeat(600) })
    expect([...tiffTexts(exif!).keys()]).toEqual([0x0110])
    expect((await described('jpeg', file, { prompt: 'x'.repeat(70_000) })).whole).toBe(file)
    expect((await described('webp', await encoded('webp', {}), {})).exif).toBeUndefined()
  })
})
