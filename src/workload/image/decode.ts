import type { Metadata } from 'sharp'
import { WorkloadError } from '../base/errors.ts'
import { stackRows } from '../tensor/rows.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import type { LoadedImage } from './images.ts'
import { isAnimation, pixelsIn } from './pixel-count.ts'
import { openSharp } from './sharp.ts'

/** The most pixels, over all frames, that a file may hold: looked up in its header before anything is decoded. */
const MAX_PIXELS = 100_000_000

/** 8-bit red, green, blue and, when `channels` is 4, alpha. */
interface Frame {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: number
}

/**
 * The picture in `bytes`, upright by its EXIF orientation, colour profiles ignored as the reference does. An animation
 * gives a row a frame; frames of another size than the first are left out.
 */
export async function decodeImage(bytes: Buffer): Promise<LoadedImage> {
  const header = await readHeader(bytes)
  const frames = isAnimation(header) ? await decodeAnimation(bytes, header) : await decodePages(bytes, header)
  const pixels = frames.map(({ data, width, height, channels }) =>
    tensor([1, height, width, 3], planesOf(data, channels, [0, 1, 2])),
  )
  const masks = frames.map(maskOf).filter((mask) => mask !== undefined)
  return {
    pixels: stackRows(pixels, pixels.length),
    mask: masks.length === frames.length ? stackRows(masks, masks.length) : undefined,
  }
}

/** One channel of the first frame `[1, H, W]`, 0 to 1; a picture without transparency is opaque everywhere. */
export async function decodeChannel(bytes: Buffer, channel: 'alpha' | 'red' | 'green' | 'blue'): Promise<Tensor> {
  const { data, width, height, channels } = await decodePage(bytes, await readHeader(bytes), 0)
  const at = { red: 0, green: 1, blue: 2, alpha: 3 }[channel]
  const values = at < channels ? planesOf(data, channels, [at]) : new Float32Array(width * height).fill(1)
  return tensor([1, height, width], values)
}

async function readHeader(bytes: Buffer): Promise<Metadata> {
  const header = await (await openSharp())(bytes, { limitInputPixels: false }).metadata()
  if (pixelsIn(header) > MAX_PIXELS)
    throw new WorkloadError('media-too-large', `an image may have ${MAX_PIXELS / 1e6} million pixels at most`)
  return header
}

async function decodePages(bytes: Buffer, header: Metadata): Promise<readonly Frame[]> {
  const first = await decodePage(bytes, header, 0)
  const frames = [first]
  const count = header.format === 'tiff' ? (header.pages ?? 1) : 1
  for (let page = 1; page < count; page++) {
    const frame = await decodePage(bytes, header, page)
    if (frame.width === first.width && frame.height === first.height) frames.push(frame)
  }
  return frames
}

async function decodePage(bytes: Buffer, header: Metadata, page: number): Promise<Frame> {
  if (header.space === 'grey16' && header.channels === 1) return decodeGrey16(bytes, page)
  const opened = (await openSharp())(bytes, { page, ignoreIcc: true, failOn: 'error', limitInputPixels: MAX_PIXELS })
  const pipeline = opened.autoOrient().toColourspace('srgb')
  const { data, info } = await pipeline.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: info.channels }
}

/** 16-bit grey is divided by 255, not by 257, and clipped, as the reference does it. */
async function decodeGrey16(bytes: Buffer, page: number): Promise<Frame> {
  const opened = (await openSharp())(bytes, { page, ignoreIcc: true, failOn: 'error', limitInputPixels: MAX_PIXELS })
  const pipeline = opened.autoOrient().toColourspace('grey16')
  const { data, info } = await pipeline.raw({ depth: 'ushort' }).toBuffer({ resolveWithObject: true })
  const colours = new Uint8Array(info.width * info.height * 3)
  for (let i = 0; i < colours.length; i++)
    colours[i] = Math.min(255, Math.floor(data.readUInt16LE(2 * Math.floor(i / 3)) / 255))
  return { data: colours, width: info.width, height: info.height, channels: 3 }
}

/** All frames of a GIF or WebP, which the decoder hands over one below the other. */
async function decodeAnimation(bytes: Buffer, { pages = 1 }: Metadata): Promise<readonly Frame[]> {
  const opened = (await openSharp())(bytes, {
    pages: -1,
    ignoreIcc: true,
    failOn: 'error',
    limitInputPixels: MAX_PIXELS,
  })
  const { data, info } = await opened
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const height = info.height / pages
  const size = info.width * height * info.channels
  return Array.from({ length: pages }, (_, page) => ({
    data: data.subarray(page * size, (page + 1) * size),
    width: info.width,
    height,
    channels: info.channels,
  }))
}

function maskOf({ data, width, height, channels }: Frame): Tensor | undefined {
  if (channels < 4) return undefined
  const alpha = planesOf(data, channels, [3])
  return tensor(
    [1, height, width],
    alpha.map((value) => 1 - value),
  )
}

/** Some channels of interleaved bytes, 0 to 1, interleaved in the same order. */
function planesOf(data: Uint8Array, channels: number, take: readonly number[]): Float32Array {
  const count = data.length / channels
  const values = new Float32Array(count * take.length)
  for (let i = 0; i < count; i++)
    for (const [k, channel] of take.entries()) values[i * take.length + k] = data[i * channels + channel]! / 255
  return values
}
