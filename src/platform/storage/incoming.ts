import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** A file that was written whole and has reached the disk. */
export interface IncomingFile {
  readonly path: string
  readonly size: number
  /** Hexadecimal MD5. */
  readonly etag: string
  discard(): Promise<void>
}

/** A folder where bytes wait until they have all come. */
export function createIncoming(folder: string) {
  return {
    /** Writes bytes into a file of its own; one that fails leaves nothing. */
    async take(bytes: AsyncIterable<Uint8Array>): Promise<IncomingFile> {
      const path = join(folder, randomUUID())
      const discard = () => rm(path, { force: true })
      const hash = createHash('md5')
      let size = 0
      async function* counted() {
        for await (const piece of bytes) {
          hash.update(piece)
          size += piece.length
          yield piece
        }
      }
      await mkdir(folder, { recursive: true })
      const file = createWriteStream(path, { flags: 'wx', flush: true })
      try {
        await pipeline(counted, file)
      } catch (error) {
        if (!file.closed) await new Promise<void>((resolve) => file.once('close', resolve)) // it may be about to make the file
        await discard()
        throw error
      }
      return { path, size, etag: hash.digest('hex'), discard }
    },
    /** Removes files that nobody has written to since. */
    async tidy(before: Date): Promise<void> {
      for (const name of await namesIn(folder)) {
        const path = join(folder, name)
        const { mtime } = (await orNothing(stat(path))) ?? { mtime: before }
        if (mtime < before) await rm(path, { force: true })
      }
    },
  }
}

/** Names in a folder, none when it is not there. */
export const namesIn = async (folder: string): Promise<readonly string[]> => (await orNothing(readdir(folder))) ?? []

/** Undefined when a file or folder is not there. */
export async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
