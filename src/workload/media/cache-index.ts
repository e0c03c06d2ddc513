import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { ifThere } from '../base/if-there.ts'
import { removeStaleParts } from './part-file.ts'

/** Nobody goes on with a part that is older. */
const STALE_MS = 24 * 60 * 60 * 1000

/** What is known of a file in the cache. */
export interface CacheEntry {
  readonly bytes: number
  /** Epoch milliseconds. Our own, because many file systems do not keep the time of the last reading. */
  readonly usedMs: number
  /** As logs may show it; undefined when nobody knows. */
  readonly url: string | undefined
  readonly etag?: string | undefined
  /** Whether who asks has to show on each use that they may have it. */
  readonly guarded: boolean
}

/** The files of a cache by `<folder>/<name>`, the same after a restart. */
export interface CacheIndex {
  readonly entries: ReadonlyMap<string, CacheEntry>
  /** The entry of a file that is there and has the size it should have; one that has not is removed. */
  find(key: string): Promise<CacheEntry | undefined>
  set(key: string, entry: CacheEntry): void
  delete(key: string): void
  /** Resolves when all changes are on the disk. */
  written(): Promise<void>
}

/**
 * Reads the index of `root`, which has a folder a kind. A file that the index does not know appeared before a crash, or
 * by another server that shares the disk; nobody can tell for whom, so it is guarded.
 */
export async function openCacheIndex(root: string, log: Pick<Log, 'warn'>, now: number): Promise<CacheIndex> {
  const file = join(root, 'index.json')
  await mkdir(root, { recursive: true })
  const noted = await readEntries(file)
  const entries = new Map<string, CacheEntry>()
  const adopt = async (key: string): Promise<CacheEntry | undefined> => {
    const found = await ifThere(stat(join(root, key)))
    if (!found?.isFile()) return undefined
    return { bytes: found.size, usedMs: found.mtimeMs, url: undefined, guarded: true }
  }
  for (const key of await cachedFiles(root)) {
    const known = noted.get(key)
    const found = await adopt(key)
    if (found === undefined) continue
    if (known && known.bytes !== found.bytes) await rm(join(root, key), { force: true })
    else entries.set(key, known ?? found)
  }
  for (const folder of await foldersOf(root)) await removeStaleParts(join(root, folder), STALE_MS, now)

  let writing: Promise<void> | undefined
  let changed = false
  const write = async (): Promise<void> => {
    while (changed) {
      changed = false
      const aside = `${file}.${randomUUID()}`
      try {
        await writeFile(aside, JSON.stringify(Object.fromEntries(entries)))
        await rename(aside, file)
      } catch (error) {
        log.warn({ cause: messageOf(error) }, 'the index of the model cache cannot be written')
        await rm(aside, { force: true }).catch(() => undefined) // the disk is what failed
      }
    }
    writing = undefined
  }
  const note = () => {
    changed = true
    writing ??= write()
  }
  return {
    entries,
    async find(key) {
      const known = entries.get(key)
      const found = await adopt(key)
      const usable = found && (known === undefined || known.bytes === found.bytes)
      if (usable) {
        const entry = entries.get(key) ?? found
        entries.set(key, entry)
        return entry
      }
      if (found) await rm(join(root, key), { force: true })
      if (known && entries.delete(key)) note()
      return undefined
    },
    set(key, entry) {
      entries.set(key, entry)
      note()
    },
    delete(key) {
      if (entries.delete(key)) note()
    },
    written: async () => writing,
  }
}

const foldersOf = async (root: string): Promise<readonly string[]> =>
  (await readdir(root, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name)

/** Only what has a name that the cache gives. */
async function cachedFiles(root: string): Promise<readonly string[]> {
  const folders = await foldersOf(root)
  const files = folders.map(async (folder) =>
    (await readdir(join(root, folder)))
      .filter((name) => /^[\w-]{32}\.\w+$/.test(name))
      .map((name) => `${folder}/${name}`),
  )
  return (await Promise.all(files)).flat()
}

async function readEntries(file: string): Promise<ReadonlyMap<string, CacheEntry>> {
  const text = await ifThere(readFile(file, 'utf8'))
  try {
    return new Map(Object.entries(JSON.parse(text ?? '{}') as Record<string, CacheEntry>)) // written above only
  } catch {
    return new Map() // the files are still there, and guarded
  }
}
