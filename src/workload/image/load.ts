import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { findFile } from '../base/find-file.ts'
import { decodeChannel, decodeImage } from './decode.ts'
import type { ImageSource } from './images.ts'

export interface ImageFolders {
  /** Where a plain name is looked for, in this order: the job's own media, then the input folder. */
  readonly folders: readonly string[]
  /** Where names that end in ` [output]` and ` [temp]` lie. */
  readonly output: string
  readonly temp: string
}

/** Pictures read from files by the names that prompts give, and whether there is one of a name. */
export function createImageSource({ folders, output, temp }: ImageFolders): ImageSource & {
  hasImage(name: string): Promise<boolean>
} {
  const where: Readonly<Record<string, readonly string[]>> = { input: folders, output: [output], temp: [temp] }

  const find = async (annotated: string): Promise<string | undefined> => {
    const [, name = annotated, folder = 'input'] = /^(.*) \[(input|output|temp)\]$/s.exec(annotated) ?? []
    for (const candidate of where[folder]!) {
      const path = await findFile(candidate, name)
      if (path !== undefined) return path
    }
    return undefined
  }
  const read = async (name: string): Promise<Buffer> => {
    const path = await find(name)
    if (path === undefined) throw new WorkloadError('media-unavailable', `there is no image called "${name}"`)
    return readFile(path)
  }
  const decoded = async <T>(name: string, decode: (bytes: Buffer) => Promise<T>): Promise<T> => {
    const bytes = await read(name)
    try {
      return await decode(bytes)
    } catch (cause) {
      if (cause instanceof WorkloadError) throw cause
      throw new WorkloadError('media-unsupported', `"${name}" cannot be read as an image: ${messageOf(cause)}`, {
        cause,
      })
    }
  }

  return {
    hasImage: async (name) => (await find(name)) !== undefined,
    load: (name) => decoded(name, decodeImage),
    loadChannel: (name, channel) => decoded(name, (bytes) => decodeChannel(bytes, channel)),
    hash: async (name) =>
      createHash('sha256')
        .update(await read(name))
        .digest('hex'),
  }
}

/** The image files directly in `folder`, sorted; none when there is no such folder. */
export async function listImages(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory() && /\.(png|jpe?g|webp|gif|tiff?|avif)$/i.test(entry.name))
    .map(({ name }) => name)
    .sort()
}
