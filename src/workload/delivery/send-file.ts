import type { ReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { UploadFailure } from './target.ts'

/** Bytes `start` to `end`, the latter not included. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Has `send` read a file, or a range of it, piece by piece, and closes it however that ends. */
export async function sendFile<T>(path: string, send: (pieces: ReadStream) => Promise<T>, range?: Range): Promise<T> {
  const file = await open(path).catch((cause: NodeJS.ErrnoException) => {
    throw new UploadFailure(`the file cannot be read: ${cause.code}`, { passing: false, cause })
  })
  const pieces = file.createReadStream(range && { start: range.start, end: range.end - 1 })
  pieces.on('error', () => undefined) // whoever reads them fails with it
  try {
    return await send(pieces)
  } finally {
    pieces.destroy()
  }
}

/** The ranges of a file of so many bytes, each as long as it may be. */
export const rangesOf = (bytes: number, longest: number): readonly Range[] =>
  Array.from({ length: Math.ceil(bytes / longest) }, (_, i) => ({
    start: i * longest,
    end: Math.min(bytes, (i + 1) * longest),
  }))
