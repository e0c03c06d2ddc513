import { describe, expect, it } from 'vitest'
import { convertOutputSchema, ignoredOptions } from '../../src/contracts/convert-output.ts'
import { promptRequestSchema } from '../../src/contracts/prompt.ts'

const formats = ['png', 'jpeg', 'jpg', 'webp', 'avif'] as const
const accepts = (format: string, options: unknown) => convertOutputSchema.safeParse({ format, options }).success

/** Every option with values at and just beyond its bounds. */
const options: readonly (readonly [formats: string, key: string, good: readonly unknown[], bad: readonly unknown[]])[] =
  [
    ['jpeg jpg webp avif', 'quality', [1, 100], [0, 101, 1.5, '80', null, Number.NaN]],
    ['png', 'quality', [0, 100], [-1, 101, 0.5]],
    ['png jpeg jpg webp avif', 'progressive', [true, false], ['yes', 1]],
    ['jpeg jpg avif', 'chromaSubsampling', ['4:2:0', '4:4:4'], ['4:2:2', 444]],
    ['jpeg jpg', 'optimizeCoding', [true, false], ['true']],
    ['jpeg jpg', 'mozjpeg', [true, false], [1]],
    ['jpeg jpg', 'trellisQuantisation', [true, false], [0]],
    ['jpeg jpg', 'overshootDeringing', [true, false], [0]],
    ['jpeg jpg', 'optimizeScans', [true, false], [0]],
    ['jpeg jpg', 'quantisationTable', [0, 8], [-1, 9, 1.5]],
    ['webp', 'alphaQuality', [0, 100], [-1, 101]],
    ['webp', 'lossless', [true, false], ['no']],
    ['webp', 'nearLossless', [true, false], ['no']],
    ['webp', 'smartSubsample', [true, false], ['no']],
    ['webp', 'smartDeblock', [true, false], ['no']],
    ['webp', 'exact', [true, false], ['no']],
    ['webp', 'preset', ['default', 'photo', 'picture', 'drawing', 'icon', 'text'], ['none']],
    ['webp', 'effort', [0, 6], [-1, 7]],
    ['webp', 'minSize', [true, false], ['no']],
    ['webp', 'mixed', [true, false], ['no']],
    ['png', 'compressionLevel', [0, 9], [-1, 10]],
    ['png', 'adaptiveFiltering', [true, false], ['no']],
    ['png', 'palette', [true, false], ['no']],
    ['png', 'effort', [1, 10], [0, 11]],
    ['png', 'colours', [2, 256], [1, 257]],
    ['png', 'dither', [0, 0.5, 1], [-0.1, 1.1]],
    ['avif', 'lossless', [true, false], ['no']],
    ['avif', 'effort', [0, 9], [-1, 10]],
    ['avif', 'bitdepth', [8, 10, 12], [9, 16, '8']],
    ['avif', 'tune', ['auto', 'iq', 'psnr', 'ssim'], ['best']],
  ]

describe('convert_output', () => {
  it.each(options)('of %s bounds %s', (of, key, good, bad) => {
    for (const format of of.split(' ')) {
      for (const value of good) expect(accepts(format, { [key]: value }), `${format} ${key}: ${value}`).toBe(true)
      for (const value of bad) expect(accepts(format, { [key]: value }), `${format} ${key}: ${value}`).toBe(false)
    }
  })

  it.each(formats)('takes %s with quality and progressive, and with no options at all', (format) => {
    expect(convertOutputSchema.parse({ format })).toEqual({ format })
    const options = { quality: 80, progressive: true }
    expect(convertOutputSchema.parse({ format, options })).toEqual({ format, options })
  })

  it('places every fault at its option, in words', () => {
    const body = { prompt: {}, convert_output: { format: 'jpeg', options: { quality: 0, mozjpeg: 'on' } } }
    const { error } = promptRequestSchema.safeParse(body)
    expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['convert_output.options.quality', 'must be a whole number from 1 to 100'],
      ['convert_output.options.mozjpeg', 'must be true or false'],
    ])
  })

  it.each([{ format: 'bmp' }, { format: 'PNG' }, {}])('refuses the format of %o at convert_output.format', (raw) => {
    const { error } = promptRequestSchema.safeParse({ prompt: {}, convert_output: raw })
    expect(error?.issues).toMatchObject([
      { path: ['convert_output', 'format'], message: 'must be one of png, jpeg, jpg, webp, avif' },
    ])
  })

  it('drops what the format does not know and fills nothing in', () => {
    const raw = { format: 'png', options: { mozjpeg: true, dither: 0.5, zoom: 3 } }
    expect(convertOutputSchema.parse(raw)).toEqual({ format: 'png', options: { dither: 0.5 } })
  })
})

describe('the options that change nothing', () => {
  it.each([
    [{ format: 'jpeg', options: { quality: 80, lossless: true, zoom: 1 } }, ['lossless', 'zoom']],
    [{ format: 'webp', options: { quality: 80, progressive: true } }, ['progressive']],
    [{ format: 'avif', options: { progressive: false, bitdepth: 10 } }, ['progressive']],
    [{ format: 'png', options: { quality: 80, progressive: true } }, ['quality']],
    [{ format: 'png', options: { quality: 80, colours: 16, palette: true } }, []],
    [{ format: 'jpg' }, []],
    [{ format: 'tiff', options: { a: 1 } }, []],
    ['png', []],
    [undefined, []],
  ])('of %o are %j', (raw, names) => {
    expect(ignoredOptions(raw)).toEqual(names)
  })
})
