import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../common/log.ts'
import { ifThere } from '../base/if-there.ts'
import { once } from '../base/once.ts'

/** Folders that a server which ended too early left behind are this old at least. */
const STALE_MS = 60 * 60_000
const DIGEST = 64
const name = /^[0-9a-f]{64}$/

/** What tells whether kept bytes are still those of their URL. No member holds a secret. */
export interface Validators {
  readonly etag?: string | undefined
  readonly lastModified?: string | undefined
  /** Hash of the address that they came from, when redirects led there. */
  readonly from?: string | undefined
  /** Whether they came without anybody showing who asks. */
  readonly anonymous: boolean
}

export interface KeptMedia extends Validators {
  readonly bytes: Buffer
}

/**
 * Fetched files on disk by what they were asked by, within a number of bytes; the one unused for longest goes first. A
 * disk that fails costs a download, never a prompt: it is logged.
 */
export interface MediaCache {
  /** The file, which counts as used now; undefined when there is none or it is not what was kept. */
  find(key: string): Promise<KeptMedia | undefined>
  keep(key: string, bytes: Buffer, validators: Validators): Promise<void>
  forget(key: string): Promise<void>
}

export interface MediaCacheDeps {
  /** Made when needed. */
  readonly folder: string
  /** 0: nothing is kept. */
  readonly maxBytes: number
  readonly log: Pick<Log, 'warn'>
  /** Epoch milliseconds. */
  now(): number
  /** Told after every change how many bytes are kept and how many files had to go for it. */
  onChange?(bytes: number, evicted: number): void
}

/** The order of use is kept in the files' modification times, which are set here: many mounts keep no access times. */
export function createMediaCache({ folder, maxBytes, log, now, onChange }: MediaCacheDeps): MediaCache {
  /** Sizes by file name, the one unused for longest first. */
  let sizes = new Map<string, number>()
  let total = 0
  const drop = (file: string): void => {
    total -= sizes.get(file) ?? 0
    sizes.delete(file)
  }
  const add = (file: string, bytes: number): void => {
    drop(file)
    sizes.set(file, bytes)
    total += bytes
  }
  const open = once(async () => {
    sizes = new Map(await readFolder(folder, now()))
    total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
    await shrink(maxBytes)
  })
  const remove = async (file: string): Promise<void> => {
    drop(file)
    await rm(join(folder, file), { force: true })
  }
  const shrink = async (limit: number): Promise<void> => {
    const excess: string[] = []
    for (const file of sizes.keys()) {
      if (total <= limit) break
      drop(file)
      excess.push(file)
    }
    await Promise.all(excess.map(remove))
    onChange?.(total, excess.length)
  }
  /** Loses what the disk does not do. */
  const carefully = <T>(work: () => Promise<T>): Promise<T | undefined> =>
    open()
      .then(work)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'the cache of input files failed')
        return undefined
      })
  if (maxBytes <= 0) return { find: async () => undefined, keep: async () => undefined, forget: async () => undefined }
  return {
    find: (key) =>
      carefully(async () => {
        const file = hashOf(key)
        const content = sizes.has(file) ? await ifThere(readFile(join(folder, file))) : undefined
        const kept = content && unpacked(content)
        if (!kept) {
          if (sizes.has(file)) await remove(file)
          return undefined
        }
        add(file, content.length)
        const seconds = now() / 1000
        await ifThere(utimes(join(folder, file), seconds, seconds))
        return kept
      }),
    keep: (key, bytes, validators) =>
      carefully(async (): Promise<void> => {
        const file = hashOf(key)
        const content = packed(bytes, validators)
        if (content.length > maxBytes) return remove(file)
        add(file, content.length)
        await shrink(maxBytes)
        await write(folder, file, content, now()).catch(async (error: unknown) => {
          await remove(file)
          throw error
        })
        if (!sizes.has(file)) await remove(file) // it had to go while it came
      }),
    forget: async (key) => void (await carefully(() => remove(hashOf(key)))),
  }
}

/** The files' names and sizes, the one unused for longest first; what a crash left behind is removed. */
async function readFolder(folder: string, now: number): Promise<readonly (readonly [string, number])[]> {
  const entries = (await ifThere(readdir(folder))) ?? []
  const found = await Promise.all(
    entries.map(async (entry) => {
      const facts = await ifThere(stat(join(folder, entry)))
      if (facts && entry.startsWith('.part-') && facts.mtimeMs < now - STALE_MS)
        await rm(join(folder, entry), { recursive: true, force: true })
      return facts && name.test(entry) ? [{ entry, size: facts.size, used: facts.mtimeMs }] : []
    }),
  )
  return found
    .flat()
    .sort((a, b) => a.used - b.used)
    .map(({ entry, size }) => [entry, size])
}

/** The file appears only when it is whole. */
async function write(folder: string, file: string, content: Buffer, now: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const aside = await mkdtemp(join(folder, '.part-'))
  try {
    await writeFile(join(aside, file), content, { mode: 0o600 })
    await utimes(join(aside, file), now / 1000, now / 1000)
    await rename(join(aside, file), join(folder, file))
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

/** The hash of all that follows, the validators as one line of JSON, the bytes. */
function packed(bytes: Buffer, validators: Validators): Buffer {
  const line = Buffer.from(`${JSON.stringify(validators)}\n`)
  const digest = createHash('sha256').update(line).update(bytes).digest('hex')
  return Buffer.concat([Buffer.from(digest), line, bytes])
}

function unpacked(content: Buffer): KeptMedia | undefined {
  const rest = content.subarray(DIGEST)
  if (content.toString('latin1', 0, DIGEST) !== createHash('sha256').update(rest).digest('hex')) return undefined
  const end = rest.indexOf('\n')
  const validators = JSON.parse(rest.toString('utf8', 0, end)) as Validators // written above, as the hash shows
  return { ...validators, bytes: rest.subarray(end + 1) }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
