import { crc32 } from 'node:zlib'

/** A chunk of a PNG: length, type, body and checksum (PNG specification §5.3). */
export function pngChunk(type: string, body: Uint8Array): Buffer {
  const chunk = Buffer.alloc(body.length + 12)
  chunk.writeUInt32BE(body.length, 0)
  chunk.write(type, 4, 'latin1')
  chunk.set(body, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, body.length + 8)), body.length + 8)
  return chunk
}

/** The type and body of every chunk of a PNG, in order. */
export function* pngChunks(png: Buffer): Generator<{ readonly type: string; readonly body: Buffer }> {
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    yield { type: png.toString('latin1', at + 4, at + 8), body: png.subarray(at + 8, at + 8 + length) }
    at += length + 12
  }
}

/** A PNG's signature and its IHDR chunk, which comes first in every file. */
export const HEAD_LENGTH = 8 + 25
const SIGNATURE = '89504e470d0a1a0a'

/** The PNG `png` with the text chunks of `source` behind its header; as it was when `source` is no PNG. */
export function withTextChunksOf(source: Buffer, png: Buffer): Buffer {
  if (source.toString('hex', 0, 8) !== SIGNATURE) return png
  const texts = [...pngChunks(source)].filter(({ type }) => /^[tiz](?:EX|TX)t$/.test(type))
  const chunks = texts.map(({ type, body }) => pngChunk(type, body))
  return Buffer.concat([png.subarray(0, HEAD_LENGTH), ...chunks, png.subarray(HEAD_LENGTH)])
}
