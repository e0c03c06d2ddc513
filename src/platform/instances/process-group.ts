import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const LOOK_MS = 50

/** When a process began, as its machine counts it; undefined when there is none. With its number it is unmistakable. */
export async function processBirth(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // After the name, which may hold anything, the 20th word is the time of its start.
  if (stat !== undefined) return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  if (process.platform === 'linux') return undefined
  const listed = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', `${pid}`]).catch(() => undefined)
  return listed?.stdout.trim() || undefined
}

/** Sends a signal to a process and all that it started. False when none of them is left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

/** Ends a group of processes that is not a child of this one. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  let left = signalGroup(pid, 'SIGTERM')
  for (let waited = 0; left && waited < graceMs; waited += LOOK_MS) {
    await sleep(LOOK_MS)
    left = signalGroup(pid, 0)
  }
  if (left) signalGroup(pid, 'SIGKILL')
}
