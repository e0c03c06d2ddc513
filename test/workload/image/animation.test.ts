import { inflateSync } from 'node:zlib'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { encodeAnimation } from '../../../src/workload/image/animation.ts'
import type { AnimationArtifact } from '../../../src/workload/image/images.ts'
import { pngChunks } from '../../../src/workload/image/png-chunks.ts'
import saveAnimatedPng from '../../../src/workload/nodes/save-animated-png.ts'
import saveAnimatedWebp from '../../../src/workload/nodes/save-animated-webp.ts'
import { mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { nodeRoom } from '../../support/node-room.ts'
import { tiffTexts } from '../../support/tiff-texts.ts'

const frames = (rows: number, channels = 3): Tensor =>
  mapped(zeros([rows, 10, 14, channels]), (_, i) => ((i * 37 + Math.floor(i / (140 * channels)) * 91) % 256) / 255)
const metadata = { prompt: { '1': { inputs: { text: 'Grüße' } } }, workflow: { version: 0.4 }, more: 1 }
const json = { prompt: '{"1": {"inputs": {"text": "Gr\\u00fc\\u00dfe"}}}', workflow: '{"version": 0.4}', more: '1' }
const values = { filename_prefix: 'out', fps: 7, lossless: true, quality: 80, method: 'default', compress_level: 4 }

async function animation(node: typeof saveAnimatedPng, images: Tensor, changed = {}) {
  const { artifacts } = await node.run({ images, ...values, ...changed }, (await nodeRoom()).context)
  const [artifact] = artifacts as readonly AnimationArtifact[]
  return { artifact: artifact!, ...(await encodeAnimation(artifact!, metadata)) }
}
const bytesOf = (images: Tensor) => Buffer.from(images.data.map((value) => Math.trunc(Math.fround(value * 255))))

describe('a moving WebP', () => {
  it('has every frame for as long as the node says, without loss', async () => {
    const images = frames(3, 4)
    const { data, mime, artifact } = await animation(saveAnimatedWebp, images)
    expect(artifact).toMatchObject({ prefix: 'out', retention: 'output', encoding: { format: 'webp', delay: 142 } })
    expect(mime).toBe('image/webp')
    expect(await sharp(data, { pages: -1 }).metadata()).toMatchObject({
      pages: 3,
      pageHeight: 10,
      width: 14,
      delay: [142, 142, 142],
      loop: 0,
    })
    const opaque = await animation(saveAnimatedWebp, frames(3))
    expect(await sharp(opaque.data, { pages: -1 }).removeAlpha().raw().toBuffer()).toEqual(bytesOf(frames(3)))
  })

  it.each([
    [{ lossless: false, quality: 0 }, 1],
    [{ lossless: false, quality: 100, method: 'slowest' }, 1],
    [{ fps: 0.01 }, 1],
    [{ method: 'fastest' }, 2],
  ])('takes %o', async (changed, rows) => {
    const { data } = await animation(saveAnimatedWebp, frames(rows), changed)
    expect(await sharp(data).metadata()).toMatchObject({ format: 'webp', width: 14 })
  })

  it.each([1, 3])('tells its metadata as EXIF, with %d frames', async (rows) => {
    const { data } = await animation(saveAnimatedWebp, frames(rows))
    const { exif } = await sharp(data).metadata()
    expect([...tiffTexts(exif!)]).toEqual([
      [0x010e, `more:${json.more}`],
      [0x010f, `workflow:${json.workflow}`],
      [0x0110, `prompt:${json.prompt}`],
    ])
  })

  it('says when the format has no room for it', async () => {
    await expect(animation(saveAnimatedWebp, zeros([1, 1, 16_384, 3]))).rejects.toMatchObject({
      code: 'conversion-failed',
    })
  })
})

describe('a moving PNG', () => {
  it.each([3, 4] as const)('has frames of %d channels in order, with delays, without loss', async (channels) => {
    const images = frames(3, channels)
    const { data } = await animation(saveAnimatedPng, images, { fps: 8 })
    const chunks = [...pngChunks(data)]
    expect(chunks.map(({ type }) => type)).toEqual([
      'IHDR',
      'acTL',
      'fcTL',
      'IDAT',
      'fcTL',
      'fdAT',
      'fcTL',
      'fdAT',
      'comf',
      'comf',
      'comf',
      'IEND',
    ])
    expect(chunks[1]!.body).toEqual(Buffer.from([0, 0, 0, 3, 0, 0, 0, 0]))
    const ofType = (type: string) => chunks.filter((chunk) => chunk.type === type).map(({ body }) => body)
    // Frame controls and frame data share one sequence of numbers.
    expect([...ofType('fcTL'), ...ofType('fdAT')].map((body) => body.readUInt32BE(0))).toEqual([0, 1, 3, 2, 4])
    for (const body of ofType('fcTL'))
      expect(body.subarray(4).toString('hex')).toBe('0000000e0000000a0000000000000000007d03e80000')
    // Each frame as a picture of its own.
    const head = Buffer.concat([data.subarray(0, 8 + 25)])
    const tail = data.subarray(data.length - 12)
    const stills = [ofType('IDAT')[0]!, ...ofType('fdAT').map((body) => body.subarray(4))]
    for (const [row, still] of stills.entries()) {
      expect(inflateSync(still)).toHaveLength(10 * (14 * channels + 1))
      const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from('IDAT'), still, Buffer.alloc(4)])
      chunk.writeUInt32BE(still.length)
      const pixels = await sharp(Buffer.concat([head, chunk, tail]), { failOn: 'none' })
        .raw()
        .toBuffer()
      expect(pixels).toEqual(bytesOf(images).subarray(row * 140 * channels, (row + 1) * 140 * channels))
    }
  })

  it('is a plain picture with one frame, and readable as one with more', async () => {
    const single = await animation(saveAnimatedPng, frames(1))
    expect([...pngChunks(single.data)].map(({ type }) => type)).not.toContain('acTL')
    const { data } = await animation(saveAnimatedPng, frames(2))
    for (const file of [single.data, data])
      expect(await sharp(file, { failOn: 'warning' }).raw().toBuffer()).toEqual(bytesOf(frames(1)))
  })

  it('tells its metadata in chunks of their own behind the pictures', async () => {
    const { data } = await animation(saveAnimatedPng, frames(2), { compress_level: 9 })
    const texts = [...pngChunks(data)].filter(({ type }) => type === 'comf').map(({ body }) => body.toString('latin1'))
    expect(texts).toEqual([`prompt\0${json.prompt}`, `workflow\0${json.workflow}`, `more\0${json.more}`])
  })
})
