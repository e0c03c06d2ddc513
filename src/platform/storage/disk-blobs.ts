import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BlobMissing, type BlobPart, type BlobStore } from './blob-store.ts'
import { createIncoming, type IncomingFile, namesIn, orNothing } from './incoming.ts'

/** Names in a group of a list. */
const GROUP = 1000

/**
 * Blobs as files of a folder. A file is written under another name on the same disk, forced onto the disk and renamed,
 * so a blob is whole or not there, also after a loss of power.
 */
export function createDiskBlobs(folder: string): BlobStore {
  const root = join(folder, 'blobs')
  const pathOf = (name: string) => join(root, name)
  const incoming = createIncoming(join(folder, 'incoming'))

  const keep = async ({ path }: IncomingFile, name: string): Promise<void> => {
    const target = pathOf(name)
    const home = dirname(target)
    const made = await mkdir(home, { recursive: true })
    await rename(path, target)
    await forceFolder(home)
    if (made !== undefined) await forceFolder(root)
  }

  const openHandle = async (name: string) => {
    const handle = await orNothing(open(pathOf(name)))
    if (handle) return handle
    throw new BlobMissing(name)
  }

  async function* bytesOf(parts: readonly BlobPart[]) {
    for (const { name } of parts) yield* (await openHandle(name)).createReadStream()
  }

  return {
    async receive(bytes) {
      const file = await incoming.take(bytes)
      return { ...file, keep: (name) => keep(file, name) }
    },
    async join(name, parts) {
      const file = await incoming.take(bytesOf(parts))
      try {
        await keep(file, name)
      } finally {
        await file.discard()
      }
    },
    open: async (name, range) => (await openHandle(name)).createReadStream(range),
    remove: (name) => rm(pathOf(name), { force: true }),
    async *list(before) {
      for (const home of await namesIn(root)) {
        let old: string[] = []
        for (const file of await namesIn(join(root, home))) {
          const name = join(home, file)
          const { mtime } = (await orNothing(stat(pathOf(name)))) ?? { mtime: before }
          if (mtime < before) old.push(name)
          if (old.length < GROUP) continue
          yield old
          old = []
        }
        yield old
      }
    },
    tidy: incoming.tidy,
  }
}

/** A new name in a folder is durable when the folder itself has reached the disk. */
async function forceFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
