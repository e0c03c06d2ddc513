import { exifOf } from './exif.ts'

const MARK = 'Exif\0\0'
/** A segment's length has 16 bits and counts itself. */
const MAX_BYTES = 0xffff - 2 - MARK.length

/** A JPEG with `texts` as EXIF, as far as one segment holds them. */
export function withJpegExif(jpeg: Buffer, texts: Readonly<Record<string, unknown>>): Buffer {
  const exif = exifOf(texts, MAX_BYTES)
  if (!exif) return jpeg
  const head = Buffer.from([0xff, 0xe1, 0, 0])
  head.writeUInt16BE(2 + MARK.length + exif.length, 2)
  // Behind the JFIF segment, which must come first.
  const at = jpeg[2] === 0xff && jpeg[3] === 0xe0 ? 4 + jpeg.readUInt16BE(4) : 2
  return Buffer.concat([jpeg.subarray(0, at), head, Buffer.from(MARK, 'latin1'), exif, jpeg.subarray(at)])
}
