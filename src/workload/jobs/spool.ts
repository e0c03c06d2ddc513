import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { Log } from '../../common/log.ts'
import type { JobQueue } from '../queue/job-queue.ts'
import { readNote } from './life-note.ts'

/** Tells whose run a folder is, also to the next process on this disk. */
const OWNER_FILE = 'entry.json'

/** Begins the names of folders that are being removed. */
const GONE = '.gone-'

/** The folders in which asynchronous prompts run. */
export interface Spool {
  /** The path of a folder that is not there yet. */
  name(): string
  /** Makes the folder of a run of the entry `id`, which must know of it by now: others are swept. */
  make(folder: string, id: string): Promise<void>
  /** Removes a folder of a run if it is one of this disk. Never throws: tidying fails no prompt. */
  remove(folder: string): Promise<void>
  /** Removes what no prompt needs any more: runs that other servers have taken over, and those of ended prompts. */
  sweep(queue: Pick<JobQueue, 'find'>, isInUse: (folder: string) => boolean, keepMs: number): Promise<void>
}

/** `root` holds a folder a run; `now` gives epoch milliseconds. */
export function createSpool(root: string, log: Log, now: () => number): Spool {
  const isInside = (folder: string) => resolve(folder).startsWith(resolve(root) + sep)
  const spool: Spool = {
    name: () => join(root, randomUUID()),
    async make(folder, id) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, OWNER_FILE), JSON.stringify({ id }))
    },
    async remove(folder) {
      if (!isInside(folder)) return
      // Another name first: whoever still writes there, an engine that was given up, finds nothing to write into.
      const gone = join(root, GONE + randomUUID())
      try {
        await rename(folder, gone)
        await rm(gone, { recursive: true, force: true })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
        log.warn({ folder, err: error }, 'a job folder could not be removed')
      }
    },
    async sweep(queue, isInUse, keepMs) {
      for (const name of await readdir(root).catch(() => [])) {
        const folder = join(root, name)
        if (name.startsWith(GONE)) await spool.remove(folder)
        const id = isInUse(folder) ? undefined : await ownerOf(folder)
        if (id === undefined) continue
        const entry = await queue.find(id)
        const life = entry && readNote(entry.note)
        const isNewest = life?.folder === folder
        const isLeft = life?.delivery.length === 0 || life?.delivery.some(({ status }) => status !== 'delivered')
        const isKept = entry?.stage !== 'ended' || (isLeft && (life?.outcome?.at ?? 0) + keepMs > now())
        if (!isNewest || !isKept) await spool.remove(folder)
      }
    },
  }
  return spool
}

/** The entry a folder belongs to; undefined when it is no folder of an asynchronous prompt, or just being made. */
async function ownerOf(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, OWNER_FILE), 'utf8').catch(() => '')
  return /^\{"id":"([\w.-]+)"\}$/.exec(text)?.[1]
}
