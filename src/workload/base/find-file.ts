import { realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** Names that are asked of the file system at all: relative, short, and without any way up or out. */
export function isPlainName(name: string): boolean {
  return (
    name !== '' &&
    Buffer.byteLength(name) <= 255 &&
    !name.includes('..') &&
    !name.includes('\\') &&
    !name.includes('\0') &&
    !/^(\.?\/|[A-Za-z]:)/.test(name)
  )
}

/**
 * The real path of the file `name` (sub-folders with `/`) in `folder`. Undefined when there is no such file, and also
 * when the name or a symbolic link on the way leads out of the folder: callers must not learn what lies outside.
 */
export async function findFile(folder: string, name: string): Promise<string | undefined> {
  if (!isPlainName(name)) return undefined
  try {
    const path = await realpath(join(folder, name))
    const inside = path.startsWith((await realpath(folder)) + sep)
    return inside && (await stat(path)).isFile() ? path : undefined
  } catch {
    return undefined // the file or the folder does not exist, or may not be read
  }
}
