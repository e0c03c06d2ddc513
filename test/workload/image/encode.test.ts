import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { type ConvertOutput, convertOutputSchema } from '../../../src/contracts/convert-output.ts'
import { loadFormats } from '../../../src/workload/image/format.ts'
import type { RawImage } from '../../../src/workload/image/pixels.ts'

const formats = await loadFormats()

/** A picture with edges, slopes and some grain, so that every encoder has something to decide. */
function picture(channels: 3 | 4 = 3, side = 96): RawImage {
  const value = (x: number, y: number, c: number) =>
    128 + 70 * Math.sin(x / 9 + c) * Math.cos(y / 7) + (x > y ? 40 : 0) + ((x * 31 + y * 17 + c * 7) % 13)
  const data = Uint8Array.from({ length: side * side * channels }, (_, i) => {
    const [pixel, c] = [Math.floor(i / channels), i % channels]
    return c === 3 ? (pixel % side) * 2 : value(pixel % side, Math.floor(pixel / side), c)
  })
  return { data, width: side, height: side, channels }
}

/** As a request would have it: through the schema, then to the encoder. */
const encoded = (format: ConvertOutput['format'], options: object, image = picture()) => {
  const parsed = convertOutputSchema.parse({ format, options })
  return formats.get(format)!.encode(image, parsed.options ?? {})
}
const metadata = async (file: Buffer) => sharp(file).metadata()
const decoded = async (file: Buffer) => [...(await sharp(file).raw().toBuffer())]

describe('JPEG', () => {
  it('is smaller with mozjpeg than with progressive alone, and progressive too', async () => {
    const [plain, progressive, mozjpeg] = await Promise.all(
      [{}, { progressive: true }, { mozjpeg: true }].map((options) => encoded('jpeg', options)),
    )
    expect(mozjpeg!.length).toBeLessThan(progressive!.length)
    expect((await metadata(mozjpeg!)).isProgressive).toBe(true)
    expect((await metadata(plain!)).isProgressive).toBe(false)
  })

  it('is smaller with less quality', async () => {
    expect((await encoded('jpg', { quality: 20 })).length).toBeLessThan((await encoded('jpg', { quality: 90 })).length)
  })

  it.each(['4:2:0', '4:4:4'])('subsamples colour as %s', async (chromaSubsampling) => {
    expect(await metadata(await encoded('jpeg', { chromaSubsampling }))).toMatchObject({ chromaSubsampling })
  })

  it.each([
    { trellisQuantisation: true },
    { optimizeScans: true },
    { optimizeCoding: false },
    { quantisationTable: 3 },
    { overshootDeringing: true, quality: 60 },
  ])('takes %o and changes the file', async (options) => {
    expect((await encoded('jpeg', options)).equals(await encoded('jpeg', {}))).toBe(false)
  })

  it('turns what is transparent black', async () => {
    const clear = { data: Uint8Array.from([255, 255, 255, 0]), width: 1, height: 1, channels: 4 } as const
    expect(await decoded(await encoded('jpeg', {}, clear))).toEqual([0, 0, 0])
  })
})

describe('WebP', () => {
  it('keeps every pixel when lossless, and transparent ones too when exact', async () => {
    const opaque = picture()
    expect(await decoded(await encoded('webp', { lossless: true }, opaque))).toEqual([...opaque.data])
    const clear = picture(4)
    expect(await decoded(await encoded('webp', { lossless: true, exact: true }, clear))).toEqual([...clear.data])
  })

  it.each([
    { quality: 20 },
    { nearLossless: true },
    { smartSubsample: true },
    { preset: 'drawing' },
    { effort: 0 },
    { smartDeblock: true, quality: 30 },
  ])('takes %o and changes the file', async (options) => {
    expect((await encoded('webp', options)).equals(await encoded('webp', {}))).toBe(false)
  })

  it('takes alphaQuality, minSize, mixed and progressive', async () => {
    const image = picture(4)
    for (let i = 3; i < image.data.length; i += 4) image.data[i] = 128 + 127 * Math.sin(i * i)
    const file = await encoded('webp', { alphaQuality: 0, minSize: true, mixed: true, progressive: true }, image)
    expect(await metadata(file)).toMatchObject({ format: 'webp', hasAlpha: true })
    expect(file.length).toBeLessThan((await encoded('webp', {}, image)).length)
  })
})

describe('PNG', () => {
  it('stays lossless truecolour whatever the palette options, unless a palette is asked for', async () => {
    const image = picture()
    const file = await encoded('png', { quality: 80, effort: 1, colours: 16, dither: 0.5 }, image)
    expect(await metadata(file)).toMatchObject({ isPalette: false, channels: 3 })
    expect(await decoded(file)).toEqual([...image.data])
  })

  it('makes a palette of as many colours as asked for', async () => {
    const file = await encoded('png', { palette: true, colours: 4, dither: 0, quality: 90, effort: 1 })
    expect(await metadata(file)).toMatchObject({ isPalette: true })
    const values = await decoded(file)
    const colours = new Set(Array.from({ length: values.length / 3 }, (_, i) => values.slice(i * 3, i * 3 + 3).join()))
    expect(colours.size).toBeLessThanOrEqual(4)
  })

  it('is progressive, adaptive and compressed as asked for', async () => {
    expect(await metadata(await encoded('png', { progressive: true }))).toMatchObject({ isProgressive: true })
    const [loose, tight] = [
      await encoded('png', { compressionLevel: 0 }),
      await encoded('png', { compressionLevel: 9 }),
    ]
    expect(tight.length).toBeLessThan(loose.length)
    expect((await encoded('png', { adaptiveFiltering: true })).equals(await encoded('png', {}))).toBe(false)
  })
})

describe('AVIF', () => {
  it.each([8, 10, 12] as const)('has %d bits', async (bitdepth) => {
    expect(await metadata(await encoded('avif', { bitdepth, effort: 0 }))).toMatchObject({ bitsPerSample: bitdepth })
  })

  it('keeps every pixel when lossless', async () => {
    const image = picture(3, 16)
    const values = await decoded(await encoded('avif', { lossless: true, effort: 0 }, image))
    expect(Math.max(...values.map((value, i) => Math.abs(value - image.data[i]!)))).toBeLessThanOrEqual(1)
  })

  it.each([{ quality: 10 }, { chromaSubsampling: '4:2:0' }, { effort: 0 }, { tune: 'ssim' }, { tune: 'psnr' }])(
    'takes %o and changes the file',
    async (options) => {
      expect((await encoded('avif', options)).equals(await encoded('avif', {}))).toBe(false)
    },
  )

  it('takes progressive and leaves the file as it is', async () => {
    expect(await encoded('avif', { progressive: true })).toEqual(await encoded('avif', {}))
  })
})
