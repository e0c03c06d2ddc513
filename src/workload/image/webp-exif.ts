import { exifOf } from './exif.ts'

/** Flags of the header of an extended file. */
const ALPHA = 0x10
const EXIF = 0x08

/** A WebP with `texts` as EXIF; a simple file becomes an extended one (RFC 9649 §2.7), which alone has room for them. */
export function withWebpExif(webp: Buffer, texts: Readonly<Record<string, unknown>>): Buffer {
  const exif = exifOf(texts, 0xffff_ffff - webp.length - 64)
  if (!exif) return webp
  const isExtended = webp.toString('latin1', 12, 16) === 'VP8X'
  const header = isExtended ? Buffer.from(webp.subarray(20, 30)) : extendedHeader(webp)
  header[0]! |= EXIF
  const rest = webp.subarray(isExtended ? 30 : 12)
  const form = webp.subarray(8, 12)
  const chunks = Buffer.concat([form, riffChunk('VP8X', header), rest, riffChunk('EXIF', exif)])
  return riffChunk('RIFF', chunks)
}

/** The header that says of a simple file what its picture's own header says: size, and whether it has transparency. */
function extendedHeader(webp: Buffer): Buffer {
  const header = Buffer.alloc(10)
  const isLossless = webp.toString('latin1', 12, 16) === 'VP8L'
  const bits = webp.readUInt32LE(21)
  const [width, height] = isLossless
    ? [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
    : [webp.readUInt16LE(26) & 0x3fff, webp.readUInt16LE(28) & 0x3fff]
  if (isLossless && (bits >>> 28) & 1) header[0] = ALPHA
  header.writeUIntLE(width - 1, 4, 3)
  header.writeUIntLE(height - 1, 7, 3)
  return header
}

function riffChunk(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)])
}
