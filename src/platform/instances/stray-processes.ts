import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { sep } from 'node:path'

/**
 * Groups of processes that containers have left and nobody has a note of: what an application started before it died, or a
 * probe's command. They work below `folder` and have the environment of a container. None where there is no `/proc`.
 */
export async function strayGroups(folder: string): Promise<ReadonlySet<number>> {
  const root = await orEmpty(realpath(folder))
  const names = root === '' ? [] : await readdir('/proc').catch(() => [])
  const groups = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => groupOf(pid, root)))
  return new Set(groups.filter((group) => group > 1))
}

async function groupOf(pid: string, root: string): Promise<number> {
  const cwd = await orEmpty(readlink(`/proc/${pid}/cwd`))
  if (!cwd.startsWith(root + sep)) return 0
  const variables = (await orEmpty(readFile(`/proc/${pid}/environ`, 'utf8'))).split('\0')
  if (!variables.some((variable) => variable.startsWith('INSTANCE_ID='))) return 0 // somebody who looks around there
  const stat = await orEmpty(readFile(`/proc/${pid}/stat`, 'utf8'))
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2] ?? 0)
}

/** Processes end while they are looked at, and those of other users cannot be. */
const orEmpty = (read: Promise<string>): Promise<string> => read.catch(() => '')
