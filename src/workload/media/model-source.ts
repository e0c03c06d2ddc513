import { createHash } from 'node:crypto'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ifThere } from '../base/if-there.ts'

/** A file and what is known of where it came from. */
export interface FileThere {
  readonly bytes: number
  /** Whether it came from the URL in question. */
  readonly same: boolean
  /** Whether it was downloaded at all, and not put there by somebody. */
  readonly downloaded: boolean
}

/** Which URL each of the downloaded files of a folder came from, as its hash: URLs may hold secrets. */
export interface ModelSources {
  /** The file at `path`, if there is one. */
  look(path: string, url: string): Promise<FileThere | undefined>
  note(path: string, url: string): Promise<void>
}

/** Keeps them in a hidden folder of `root`, because names of files may already be as long as names can be. */
export function createModelSources(root: string): ModelSources {
  const folder = join(root, '.downloads')
  const noteOf = (path: string) => join(folder, hashOf(relative(root, path)))
  return {
    async look(path, url) {
      const found = await ifThere(stat(path))
      if (!found) return undefined
      const note = await ifThere(readFile(noteOf(path), 'utf8'))
      return { bytes: found.size, same: note === hashOf(url), downloaded: note !== undefined }
    },
    async note(path, url) {
      await mkdir(folder, { recursive: true })
      await writeFile(noteOf(path), hashOf(url))
    },
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
