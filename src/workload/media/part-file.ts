import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { ifThere } from '../base/if-there.ts'

/** A part that another machine has not written to for so long is nobody's: a download that is silent for 30 s ends. */
const ABANDONED_MS = 120_000
/** Longer file names are shortened here, so that there is room for endings. */
const MOST_NAME_BYTES = 120

/** What is known of a part: how much of it is surely on the disk, and of which file. */
const emptyNote = { source: '', validator: '', sha256: '', bytes: 0 }
type Note = typeof emptyNote

/** A file that is not whole yet, beside the name it will have. */
export interface PartFile {
  /** How much of it there is. */
  readonly bytes: number
  /** With what to ask for the rest; empty when it cannot be asked for. */
  readonly validator: string
  /** The SHA-256 in hex that the store promised; empty when it did not. */
  readonly promised: string
  append(bytes: Uint8Array): Promise<void>
  /** Puts on the disk what there is, and notes it: so much survives a crash. */
  keep(of: { readonly validator: string; readonly promised: string }): Promise<void>
  /** Begins anew. */
  reset(): Promise<void>
  /** The SHA-256 of what there is, in hex. */
  sha256(): string
  /** Gives the file its name, at once and on the disk. With `exclusive`, throws EEXIST when there is one. */
  finish(exclusive: boolean): Promise<void>
  /** Lays it aside, for whoever wants to go on with it. */
  leave(): Promise<void>
  discard(): Promise<void>
}

/**
 * The part of the file `path` that comes from `source`: what an earlier attempt left, if that came from there too, or
 * an empty one. It has this process's name in its own while it is written to, so that no two processes write one file. `now` is in epoch milliseconds.
 */
export async function openPart(path: string, source: string, now: number): Promise<PartFile> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  const name = partName(basename(path))
  const own = join(folder, `${name}.${hostname()}-${process.pid}.part`)
  await adopt(folder, name, own, now)
  let note = await readNote(own)
  const file = await open(own, 'a+')
  let hash = createHash('sha256')
  let bytes = 0
  const begin = async () => {
    note = { ...emptyNote, source }
    hash = createHash('sha256')
    bytes = 0
    await file.truncate(0)
  }
  try {
    const usable = note.source === source && note.validator !== '' && (await file.stat()).size >= note.bytes
    if (usable) {
      await file.truncate(note.bytes)
      for await (const piece of createReadStream(own)) hash.update(piece as Buffer)
      bytes = note.bytes
    } else await begin()
  } catch (error) {
    await file.close()
    throw error
  }
  const write = async (of: Pick<Note, 'validator' | 'sha256'>) => {
    await file.datasync()
    note = { source, ...of, bytes }
    await writeFile(`${own}.json`, JSON.stringify(note))
  }
  const forget = () => rm(`${own}.json`, { force: true })
  const discard = async () => {
    await file.close()
    await Promise.all([rm(own, { force: true }), forget()])
  }
  return {
    get bytes() {
      return bytes
    },
    get validator() {
      return note.validator
    },
    get promised() {
      return note.sha256
    },
    async append(piece) {
      await file.appendFile(piece)
      hash.update(piece)
      bytes += piece.length
    },
    keep: ({ validator, promised }) => write({ validator, sha256: promised }),
    async reset() {
      await forget()
      await begin()
    },
    sha256: () => hash.copy().digest('hex'),
    async finish(exclusive) {
      await file.sync()
      await file.close()
      await (exclusive ? linkOnce(own, path) : rename(own, path))
      await Promise.all([syncFolder(folder), forget()])
    },
    async leave() {
      if (note.validator === '' || bytes === 0) return discard()
      await write(note)
      await file.close()
      await move(own, join(folder, `${name}.part`))
    },
    discard,
  }
}

/** Removes the parts in `folder` that nobody has gone on with for `staleMs`; `now` is in epoch milliseconds. */
export async function removeStaleParts(folder: string, staleMs: number, now: number): Promise<void> {
  for (const name of (await ifThere(readdir(folder))) ?? []) {
    const path = join(folder, name)
    if (!/\.part(\.json)?$/.test(name)) continue
    const { mtimeMs = now } = (await ifThere(stat(path))) ?? {}
    if (now - mtimeMs > staleMs) await rm(path, { force: true })
  }
}

function partName(name: string): string {
  if (Buffer.byteLength(name) <= MOST_NAME_BYTES) return name
  return `${name.slice(0, 40)}-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
}

/** Takes over a part that was laid aside, or whose process is gone. Of several that try only one can move it. */
async function adopt(folder: string, name: string, own: string, now: number): Promise<void> {
  for (const file of (await readdir(folder)).filter((each) => each.startsWith(`${name}.`) && each.endsWith('.part'))) {
    const path = join(folder, file)
    if (path === own) return
    const owner = file.slice(name.length + 1, -'.part'.length)
    if ((owner === '' || (await isAbandoned(owner, path, now))) && (await move(path, own))) return
  }
}

async function isAbandoned(owner: string, path: string, now: number): Promise<boolean> {
  const at = owner.lastIndexOf('-')
  if (owner.slice(0, at) === hostname()) return !isAlive(Number(owner.slice(at + 1)))
  const { mtimeMs } = (await ifThere(stat(path))) ?? { mtimeMs: Number.POSITIVE_INFINITY }
  return now - mtimeMs > ABANDONED_MS
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** False when somebody else was faster. */
async function move(from: string, to: string): Promise<boolean> {
  const moved = await ifThere(rename(from, to).then(() => true))
  if (moved) await ifThere(rename(`${from}.json`, `${to}.json`))
  return moved ?? false
}

async function readNote(part: string): Promise<Note> {
  const text = await ifThere(readFile(`${part}.json`, 'utf8'))
  try {
    return { ...emptyNote, ...(JSON.parse(text ?? '{}') as Partial<Note>) } // written by this file only
  } catch {
    return emptyNote // cut short by a crash
  }
}

/** A link is made only when there is no file of that name; file systems without links are asked first. */
async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
    await rm(from)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || (await ifThere(stat(to)))) throw error
    await rename(from, to)
  }
}

/** A new name is on the disk only when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle: FileHandle = await open(folder)
  await handle.sync().finally(() => handle.close())
}
