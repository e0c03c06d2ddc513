import type { AnimatedPng } from './images.ts'
import { pipelineOf, type RawImage } from './pixels.ts'
import { pngChunk, pngChunks } from './png-chunks.ts'
import { asciiJson } from './png-text.ts'

/**
 * Frames of one size as a moving PNG that repeats for ever (PNG, third edition, §4.9); a single one stays a plain PNG.
 * Each of `texts` is a private chunk `comf` behind the pictures, as ComfyUI writes them there.
 */
export async function animatedPng(
  frames: readonly RawImage[],
  { delay, compressionLevel }: Omit<AnimatedPng, 'format'>,
  texts: Readonly<Record<string, unknown>>,
): Promise<Buffer> {
  const stills = await Promise.all(
    frames.map(async (frame) => (await pipelineOf(frame)).png({ compressionLevel }).toBuffer()),
  )
  const [first] = stills
  const header = [...pngChunks(first!)].find(({ type }) => type === 'IHDR')!.body
  const pieces = [first!.subarray(0, 8), pngChunk('IHDR', header)]
  const moves = frames.length > 1
  if (moves) pieces.push(pngChunk('acTL', words(frames.length, 0)))
  let sequence = 0
  for (const [i, still] of stills.entries()) {
    if (moves) pieces.push(pngChunk('fcTL', frameControl(sequence++, frames[i]!, delay)))
    for (const { type, body } of pngChunks(still)) {
      if (type !== 'IDAT') continue
      pieces.push(i === 0 ? pngChunk('IDAT', body) : pngChunk('fdAT', Buffer.concat([words(sequence++), body])))
    }
  }
  for (const [key, value] of Object.entries(texts))
    if (value !== undefined) pieces.push(pngChunk('comf', Buffer.from(`${key}\0${asciiJson(value)}`, 'latin1')))
  return Buffer.concat([...pieces, pngChunk('IEND', Buffer.alloc(0))])
}

/** Big-endian 32-bit numbers. */
function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}

/** A frame of the whole picture that replaces what was there, shown for `delay` milliseconds. */
function frameControl(sequence: number, { width, height }: RawImage, delay: number): Buffer {
  const timing = Buffer.alloc(6)
  timing.writeUInt16BE(delay, 0)
  timing.writeUInt16BE(1000, 2)
  return Buffer.concat([words(sequence, width, height, 0, 0), timing])
}
