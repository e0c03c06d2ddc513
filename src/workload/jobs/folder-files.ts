import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, realpath, rename } from 'node:fs/promises'
import { join, parse, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { WorkloadError } from '../base/errors.ts'
import { isPlainName } from '../base/find-file.ts'

/** Names such as `x (1).png` are tried up to this number. */
const MOST_COPIES = 10_000

/**
 * The real path of the folder `name` in `root`, made when it is not there. Throws `path-not-allowed` for a name, or a
 * link on the way, that leads out of `root`.
 */
export async function insideFolder(root: string, name: string): Promise<string> {
  if (name !== '' && !isPlainName(name)) throw refusal()
  await mkdir(root, { recursive: true })
  const real = await realpath(root)
  let folder = real
  for (const segment of name.split('/').filter((part) => part !== '' && part !== '.')) {
    const next = join(folder, segment)
    await mkdir(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    folder = await realpath(next)
    if (!`${folder}${sep}`.startsWith(real + sep)) throw refusal()
  }
  return folder
}

/**
 * Puts the file `aside`, which is whole, into `folder` under `name`, or under `name (1)` and so on when another file has
 * that name. A file with the same content is used as it is; with `overwrite` the file of that name is replaced.
 * Resolves with the name.
 */
export async function placeFile(aside: string, folder: string, name: string, overwrite: boolean): Promise<string> {
  if (overwrite) {
    await rename(aside, join(folder, name)).catch((cause: unknown) => {
      throw new WorkloadError('path-not-allowed', `${name} cannot be replaced`, { cause })
    })
    return name
  }
  const hash = await hashOf(aside)
  const { name: stem, ext } = parse(name)
  for (let copy = 0; copy < MOST_COPIES; copy++) {
    const candidate = copy === 0 ? name : `${stem} (${copy})${ext}`
    const path = join(folder, candidate)
    // A link is made only when there is no file of that name, also when two uploads meet.
    const taken = await link(aside, path).then(
      () => false,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
        return true
      },
    )
    if (!taken || (await hashAt(path)) === hash) return candidate
  }
  throw new WorkloadError('invalid-request', `there are too many files called ${name}`)
}

/** The hash of what has a name; undefined for a folder, and for a file that has gone meanwhile. */
async function hashAt(path: string): Promise<string | undefined> {
  return hashOf(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EISDIR' || error.code === 'ENOENT') return undefined
    throw error
  })
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const refusal = () => new WorkloadError('path-not-allowed', 'the subfolder must lie inside the input folder')
