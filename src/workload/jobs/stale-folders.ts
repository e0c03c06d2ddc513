import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Longer than any prompt may run; younger folders may belong to another server that shares the disk. */
const STALE_MS = 24 * 60 * 60 * 1000

/** Removes what jobs of a server that was killed have left in `spool`; `now` is in epoch milliseconds. */
export async function removeStaleFolders(spool: string, now: number): Promise<void> {
  for (const name of await readdir(spool).catch(() => [])) {
    const folder = join(spool, name)
    const { mtimeMs } = await stat(folder)
    if (now - mtimeMs > STALE_MS) await rm(folder, { recursive: true, force: true })
  }
}
