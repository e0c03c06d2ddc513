import { mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** How often a holder shows that it lives, and how long it is believed. */
const SIGN_MS = 5000
const BELIEVED_MS = 20_000
/** Long beside the moment between looking at a lock and replacing it. */
const SETTLE_MS = 50

/** Another process has the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse'
}

/** Who holds a folder. */
export interface Holder {
  readonly pid: number
  readonly host: string
  /** Epoch milliseconds of the process's start: after a restart of a container its number may be the same. */
  readonly started: number
}

/**
 * Keeps a folder for this process as long as it lives, by a file that names it. A lock left by a process that is gone is
 * taken over. Throws `FolderInUse` while another process has it. Resolves with what gives it up.
 */
export async function lockFolder(file: string, holder: Holder, now: () => number): Promise<() => Promise<void>> {
  const mine = JSON.stringify(holder)
  const left = await readFile(file, 'utf8').catch(() => undefined)
  if (left !== undefined && (await lives(file, left, holder, now))) throw inUse(left)
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${holder.pid}-${holder.started}`
  await writeFile(draft, mine)
  await rename(draft, file)
  // Of several that found it free at the same moment, the last one has it.
  await pause(SETTLE_MS)
  const kept = await readFile(file, 'utf8').catch(() => '')
  if (kept !== mine) throw inUse(kept)

  const sign = setInterval(() => {
    const time = new Date(now())
    utimes(file, time, time).catch(() => undefined) // a folder that is gone fails where it is used
  }, SIGN_MS)
  sign.unref()
  return async () => {
    clearInterval(sign)
    if ((await readFile(file, 'utf8').catch(() => undefined)) === mine) await rm(file, { force: true })
  }
}

async function lives(file: string, left: string, holder: Holder, now: () => number): Promise<boolean> {
  const other = parsed(left)
  if (!other) return false
  if (other.host === holder.host) {
    if (other.pid === holder.pid) return other.started === holder.started
    if (!isRunning(other.pid)) return false
  }
  // Of another machine nothing more can be known, and here the number may be another process's by now.
  return (await stat(file)).mtimeMs + BELIEVED_MS > now()
}

function parsed(text: string): Holder | undefined {
  try {
    return JSON.parse(text) as Holder // only lockFolder writes such files
  } catch {
    return undefined // cut off when its writer died
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function inUse(left: string): FolderInUse {
  const other = parsed(left)
  const who = other ? `process ${other.pid} on ${other.host}` : 'another process'
  return new FolderInUse(`the folder is in use by ${who}`)
}
