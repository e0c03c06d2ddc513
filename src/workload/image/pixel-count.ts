import type { Metadata } from 'sharp'
import { openSharp } from './sharp.ts'

/** Whether a file is decoded with all its frames, one below the other. */
export const isAnimation = ({ format, pages = 1 }: Metadata): boolean =>
  (format === 'gif' || format === 'webp') && pages > 1

/** The pixels of all the frames that decoding a file of this header makes. */
export function pixelsIn(header: Metadata): number {
  const { width, height, pages = 1, format } = header
  return width * height * (isAnimation(header) || format === 'tiff' ? pages : 1)
}

/** The same of a file, whose pixels are not decoded; undefined when it has no header of a picture. */
export async function pixelCountOf(bytes: Buffer): Promise<number | undefined> {
  const header = (await openSharp())(bytes, { limitInputPixels: false }).metadata()
  return header.then(pixelsIn, () => undefined) // why it is none is said where it is decoded
}
