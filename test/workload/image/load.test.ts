import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createImageSource, listImages } from '../../../src/workload/image/load.ts'
import { emptyFolder } from '../../support/folder.ts'

async function source(files: Readonly<Record<string, Buffer>> = {}) {
  const root = await emptyFolder()
  const [media, input, output, temp] = ['media', 'input', 'output', 'temp'].map((name) => join(root, name))
  for (const folder of [media!, join(input!, 'sub'), output!, temp!]) await mkdir(folder, { recursive: true })
  for (const [path, bytes] of Object.entries(files)) await writeFile(join(root, path), bytes)
  return { root, input: input!, ...createImageSource({ folders: [media!, input!], output: output!, temp: temp! }) }
}
const raw = (width: number, height: number, channels: 1 | 2 | 3 | 4, values: readonly number[]) =>
  sharp(Uint8Array.from(values), { raw: { width, height, channels } })
const colour = (r: number, g: number, b: number) => raw(1, 1, 3, [r, g, b]).png().toBuffer()
const bytesOf = ({ data }: { readonly data: Float32Array }) => [...data].map((value) => Math.round(value * 255))

describe('the source of images', () => {
  it('looks among the media of the job first, then among the inputs, sub-folders too', async () => {
    const { load, hasImage } = await source({
      'media/a.png': await colour(1, 2, 3),
      'input/a.png': await colour(4, 5, 6),
      'input/sub/b.png': await colour(7, 8, 9),
    })
    expect(bytesOf((await load('a.png')).pixels)).toEqual([1, 2, 3])
    expect(bytesOf((await load('sub/b.png')).pixels)).toEqual([7, 8, 9])
    expect([await hasImage('a.png'), await hasImage('sub/b.png'), await hasImage('b.png')]).toEqual([true, true, false])
  })

  it('looks where an annotated name says', async () => {
    const { load, hasImage } = await source({
      'input/a.png': await colour(1, 1, 1),
      'output/a.png': await colour(2, 2, 2),
      'temp/a.png': await colour(3, 3, 3),
    })
    const names = ['a.png', 'a.png [input]', 'a.png [output]', 'a.png [temp]']
    const reds = await Promise.all(names.map(async (name) => bytesOf((await load(name)).pixels)[0]))
    expect(reds).toEqual([1, 1, 2, 3])
    expect(await hasImage('b.png [output]')).toBe(false)
  })

  it('never leaves its folders', async () => {
    const { root, input, hasImage, load } = await source({ 'secret.png': await colour(9, 9, 9) })
    await symlink(join(root, 'secret.png'), join(input, 'link.png'))
    await symlink(root, join(input, 'up'))
    const names = ['../secret.png', 'sub/../../secret.png', join(root, 'secret.png'), 'link.png', 'up/secret.png']
    for (const name of [...names, './a.png', 'a\\b.png', 'a\0.png', 'C:/a.png', '', 'sub', '../secret.png [output]']) {
      expect(await hasImage(name), name).toBe(false)
      await expect(load(name), name).rejects.toMatchObject({ code: 'media-unavailable' })
    }
  })

  it('hashes the bytes of a file', async () => {
    const { hash, input } = await source({ 'input/a.png': await colour(1, 2, 3) })
    const expected = createHash('sha256').update(await readFile(join(input, 'a.png')))
    expect(await hash('a.png')).toBe(expected.digest('hex'))
  })

  it('lists the images of a folder, sorted, and nothing of a folder that is not there', async () => {
    const { root, input } = await source({
      'input/b.png': await colour(1, 1, 1),
      'input/a.JPG': await colour(1, 1, 1),
      'input/notes.txt': Buffer.from('none'),
    })
    expect(await listImages(input)).toEqual(['a.JPG', 'b.png'])
    expect(await listImages(join(root, 'absent'))).toEqual([])
  })
})

describe('decoding', () => {
  const load = async (bytes: Buffer) => (await source({ 'input/x': bytes })).load('x')
  const channel = async (bytes: Buffer, name: 'alpha' | 'red' | 'green' | 'blue') =>
    (await source({ 'input/x': bytes })).loadChannel('x', name)

  it('gives opaque pixels without a mask', async () => {
    const { pixels, mask } = await load(await raw(2, 1, 3, [0, 51, 255, 1, 2, 3]).png().toBuffer())
    expect(pixels.dims).toEqual([1, 1, 2, 3])
    expect([...pixels.data]).toEqual([...Float32Array.from([0, 51 / 255, 1, 1 / 255, 2 / 255, 3 / 255])])
    expect(mask).toBeUndefined()
  })

  it('gives what is transparent as mask, and keeps the colour beneath', async () => {
    const { pixels, mask } = await load(await raw(2, 1, 4, [10, 20, 30, 0, 40, 50, 60, 255]).png().toBuffer())
    expect(bytesOf(pixels)).toEqual([10, 20, 30, 40, 50, 60])
    expect([mask?.dims, [...mask!.data]]).toEqual([
      [1, 1, 2],
      [1, 0],
    ])
  })

  it('reads grey, grey with alpha, and palettes with transparency as colour', async () => {
    expect(bytesOf((await load(await raw(1, 1, 1, [77]).toColourspace('b-w').png().toBuffer())).pixels)).toEqual([
      77, 77, 77,
    ])
    const translucent = await load(await raw(1, 1, 2, [77, 51]).toColourspace('b-w').png().toBuffer())
    expect([bytesOf(translucent.pixels), bytesOf(translucent.mask!)]).toEqual([[77, 77, 77], [204]])
    const palette = await raw(2, 1, 4, [255, 0, 0, 255, 0, 0, 255, 0]).png({ palette: true, dither: 0 }).toBuffer()
    expect((await sharp(palette).metadata()).isPalette).toBe(true)
    expect(bytesOf((await load(palette)).mask!)).toEqual([0, 255])
  })

  it('turns a photograph as its EXIF orientation says', async () => {
    const lying = raw(2, 1, 3, [255, 0, 0, 0, 0, 255]).withMetadata({ orientation: 6 })
    const { pixels } = await load(await lying.png().toBuffer())
    expect(pixels.dims).toEqual([1, 2, 1, 3])
    expect(bytesOf(pixels)).toEqual([255, 0, 0, 0, 0, 255])
  })

  it('divides 16-bit grey by 255 and takes the high byte of 16-bit colour, as the reference does', async () => {
    const deep = (values: readonly number[], channels: 1 | 3, space: 'grey16' | 'rgb16') =>
      sharp(Uint16Array.from(values), { raw: { width: values.length / channels, height: 1, channels } })
        .toColourspace(space)
        .png()
        .toBuffer()
    const grey = (await load(await deep([0, 254, 255, 30_000, 65_535], 1, 'grey16'))).pixels
    expect(bytesOf(grey).filter((_, i) => i % 3 === 0)).toEqual([0, 0, 1, 117, 255])
    expect(bytesOf((await load(await deep([255, 256, 65_535], 3, 'rgb16'))).pixels)).toEqual([0, 1, 255])
  })

  it.each(['gif', 'webp'] as const)('gives each frame of an animated %s a row', async (format) => {
    const frames = [255, 0].flatMap((red) => Array.from({ length: 16 }, () => [red, 0, 0]).flat())
    const animation = sharp(Uint8Array.from(frames), { raw: { width: 4, height: 8, channels: 3, pageHeight: 4 } })
    const file = await (format === 'gif' ? animation.gif() : animation.webp({ lossless: true })).toBuffer()
    const { pixels } = await load(file)
    expect(pixels.dims).toEqual([2, 4, 4, 3])
    expect(bytesOf(pixels).filter((_, i) => i % 48 === 0)).toEqual([255, 0])
  })

  it.each(['jpeg', 'webp', 'avif', 'tiff', 'gif', 'png'] as const)('reads %s', async (format) => {
    const file = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#804020' } })
      .toFormat(format)
      .toBuffer()
    const { pixels } = await load(file)
    expect(pixels.dims).toEqual([1, 8, 8, 3])
    for (const [i, byte] of [0x80, 0x40, 0x20].entries())
      expect(Math.abs(bytesOf(pixels)[i]! - byte)).toBeLessThanOrEqual(6)
  })

  it('gives single channels, and alpha 1 for what is opaque', async () => {
    const file = await raw(1, 1, 4, [10, 20, 30, 40]).png().toBuffer()
    for (const [name, byte] of Object.entries({ red: 10, green: 20, blue: 30, alpha: 40 }))
      expect(bytesOf(await channel(file, name as 'red'))).toEqual([byte])
    expect(await channel(await colour(1, 2, 3), 'alpha')).toMatchObject({ dims: [1, 1, 1], data: { 0: 1 } })
  })

  it('says in a sentence that a file is no picture, broken, drawn or too large', async () => {
    const whole = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer()
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    for (const bytes of [Buffer.from('hello, world'), whole.subarray(0, whole.length / 2), svg, Buffer.alloc(0)])
      await expect(load(bytes)).rejects.toMatchObject({
        code: 'media-unsupported',
        message: expect.stringMatching(/^"x" cannot be read as an image: \w/),
      })
    const bomb = await sharp({ create: { width: 16_000, height: 7_000, channels: 3, background: 'red' } })
      .png({ compressionLevel: 1 })
      .toBuffer()
    await expect(load(bomb)).rejects.toMatchObject({
      code: 'media-too-large',
      message: 'an image may have 100 million pixels at most',
    })
  })
})
