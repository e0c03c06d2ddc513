import { readdirSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { convertOutputSchema } from '../../src/contracts/convert-output.ts'
import { loadFormats } from '../../src/workload/image/format.ts'

const formats = await loadFormats()
const picture = (channels: 3 | 4) => ({
  data: Uint8Array.from({ length: 24 * 16 * channels }, (_, i) => 127 + 100 * Math.sin(i / (24 * channels))),
  width: 24,
  height: 16,
  channels,
})

it('can be asked for by a request, each one', () => {
  for (const format of formats.keys()) expect(convertOutputSchema.safeParse({ format }).success, format).toBe(true)
  expect(formats.size).toBe(5)
})

describe.each([...formats])('format %s', (name, format) => {
  it('lives in a file of its first name', () => {
    expect(readdirSync('src/workload/image/formats')).toContain(`${format.names[0]}.ts`)
    expect(format.names).toContain(name)
  })

  it.each([3, 4] as const)(
    'encodes pictures of %d channels that others can read, without metadata',
    async (channels) => {
      const file = await format.encode(picture(channels), {})
      const read = await sharp(file).metadata()
      expect(read).toMatchObject({ width: 24, height: 16, mediaType: format.mime })
      expect([read.exif, read.icc, read.xmp, read.comments]).toEqual([undefined, undefined, undefined, undefined])
    },
  )

  it('keeps the picture recognisable', async () => {
    const source = picture(3)
    const { data } = await sharp(await format.encode(source, { quality: 90 }))
      .raw()
      .toBuffer({ resolveWithObject: true })
    const error = source.data.reduce((sum, value, i) => sum + Math.abs(value - data[i]!), 0) / source.data.length
    expect(error).toBeLessThan(3)
  })

  it('gives the same bytes for the same picture', async () => {
    expect(await format.encode(picture(3), {})).toEqual(await format.encode(picture(3), {}))
  })
})
