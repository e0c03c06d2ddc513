import type { AnimatedWebp } from './images.ts'
import type { RawImage } from './pixels.ts'
import { openSharp } from './sharp.ts'
import { withWebpExif } from './webp-exif.ts'

/** Frames of one size as a moving WebP that repeats for ever, `texts` as EXIF. */
export async function animatedWebp(
  frames: readonly RawImage[],
  { delay, lossless, quality, effort }: Omit<AnimatedWebp, 'format'>,
  texts: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const { width, height, channels } = frames[0]!
  const sharp = await openSharp()
  // The encoder takes frames one below the other.
  const tower = Buffer.concat(frames.map(({ data }) => data))
  const raw = { width, height: height * frames.length, channels, pageHeight: height }
  const webp = await sharp(tower, { raw, limitInputPixels: false })
    .webp({ lossless, quality: Math.max(1, quality), effort, delay: frames.map(() => delay), loop: 0 }) // its lowest quality is 1
    .toBuffer()
  return withWebpExif(webp, texts)
}
