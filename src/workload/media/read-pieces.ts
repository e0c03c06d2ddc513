import type { FileHandle } from 'node:fs/promises'

/** The bytes from `start` to `end` in pieces of at most `size`, each in memory of its own, for decoders keep some. */
export async function* readPieces(
  file: FileHandle,
  start: number,
  end: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const length = Math.min(size, end - at)
    const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, at)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}
