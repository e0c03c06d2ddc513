import { withTextChunksOf } from './png-chunks.ts'
import { openSharp } from './sharp.ts'

/** The most pixels a picture may have to be decoded only to be shown. */
const MAX_PIXELS = 100_000_000

/** Another form of a picture. */
export interface Recoded {
  readonly data: Buffer
  readonly mime: string
}

const open = async (source: string | Buffer) =>
  (await openSharp())(source, { failOn: 'error', limitInputPixels: MAX_PIXELS })

/** The picture as a small file to look at: `quality` 1 to 100, without transparency when `opaque` or in JPEG. */
export async function previewOf(
  path: string,
  { format, quality, opaque }: { readonly format: 'webp' | 'jpeg'; readonly quality: number; readonly opaque: boolean },
): Promise<Recoded> {
  const picture = await open(path)
  const pipeline = opaque || format === 'jpeg' ? picture.removeAlpha() : picture
  const data = await (format === 'webp' ? pipeline.webp({ quality }) : pipeline.jpeg({ quality })).toBuffer()
  return { data, mime: `image/${format}` }
}

/** The colours of a picture alone, or its transparency alone on black, as PNG. */
export async function channelOf(path: string, channel: 'rgb' | 'a'): Promise<Recoded> {
  const picture = await open(path)
  if (channel === 'rgb') return { data: await picture.removeAlpha().png().toBuffer(), mime: 'image/png' }
  const { data, info } = await alphaOf(picture)
  const black = { width: info.width, height: info.height, channels: 3 as const, background: '#000' }
  const masked = (await openSharp())({ create: black }).joinChannel(data, { raw: { ...info, channels: 1 } })
  return { data: await masked.png().toBuffer(), mime: 'image/png' }
}

/**
 * The picture in the file `original` with the transparency of `mask` in place of its own, as PNG; texts in a PNG stay.
 * Throws a RangeError when the two are not of one size.
 */
export async function withAlphaOf(original: Buffer, mask: Buffer): Promise<Buffer> {
  const { data, info } = await alphaOf(await open(mask))
  const colours = await (await open(original))
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  if (colours.info.width !== info.width || colours.info.height !== info.height)
    throw new RangeError('the mask and the picture it belongs to are not of one size')
  const raw = { width: info.width, height: info.height }
  const picture = (await openSharp())(colours.data, { raw: { ...raw, channels: 3 } })
  const png = await picture
    .joinChannel(data, { raw: { ...raw, channels: 1 } })
    .png({ compressionLevel: 4 })
    .toBuffer()
  return withTextChunksOf(original, png)
}

/** 8-bit transparency, a byte a pixel; 255 everywhere for a picture without it. */
const alphaOf = async (picture: Awaited<ReturnType<typeof open>>) =>
  picture
    .toColourspace('srgb')
    .ensureAlpha()
    .extractChannel('alpha')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
