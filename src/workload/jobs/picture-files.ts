import { createWriteStream } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { findFile, isPlainName } from '../base/find-file.ts'
import { channelOf, previewOf, type Recoded, withAlphaOf } from '../image/recode.ts'
import { sniff } from '../media/sniff.ts'
import { insideFolder, placeFile } from './folder-files.ts'

/** The folders whose files clients may name. */
export type FolderKind = 'input' | 'output' | 'temp'

/** A file as ComfyUI's clients name it. */
export interface FileName {
  readonly filename: string
  readonly subfolder: string
  readonly type: FolderKind
}

/** What a client uploads, and where it wants it. */
export interface Upload {
  readonly filename: string
  /** In the input folder. */
  readonly subfolder: string
  readonly overwrite: boolean
}

/** A picture that was asked for in another form than it lies there. */
export type View =
  | { readonly format: 'webp' | 'jpeg'; readonly quality: number; readonly opaque: boolean }
  | { readonly channel: 'rgb' | 'a' }

/** Where a file lies, and what its first bytes say it is. */
export interface FoundFile {
  readonly path: string
  readonly mime: string
}

/** The pictures in the server's own folders. */
export interface PictureFiles {
  /** Undefined when there is no such file, or when it lies where clients have no business. */
  find(name: FileName): Promise<FoundFile | undefined>
  /** Throws `media-unsupported` when the file is no picture. */
  view(path: string, view: View): Promise<Recoded>
  /**
   * Streams an upload into a file that lies aside until `place` is called or `discard`. Throws `media-too-large` and
   * `media-unsupported`.
   */
  receive(stream: Readable): Promise<ReceivedFile>
}

/** An upload that has come whole and is a picture. */
export interface ReceivedFile {
  /** Puts it into the input folder and resolves with its name there. Throws `path-not-allowed`. */
  place(upload: Upload): Promise<string>
  /** The same for the picture `original` with the transparency of this one. */
  placeAsMask(upload: Upload, original: string): Promise<string>
  discard(): Promise<void>
}

export interface PictureFolders {
  readonly inputDir: string
  readonly outputDir: string
  readonly tempDir: string
  /** Inside the output folder: what lies there belongs to jobs. */
  readonly spool: string
  /** The most bytes of an upload. */
  readonly maxBytes: number
}

export function createPictureFiles({ inputDir, outputDir, tempDir, spool, maxBytes }: PictureFolders): PictureFiles {
  const folders: Readonly<Record<FolderKind, string>> = { input: inputDir, output: outputDir, temp: tempDir }
  const isOfJobs = (root: string, name: string) => `${resolve(root, name)}${sep}`.startsWith(`${resolve(spool)}${sep}`)
  const place = async (aside: string, { filename, subfolder, overwrite }: Upload): Promise<string> => {
    if (!isPlainName(filename) || filename.includes('/') || filename.startsWith('.'))
      throw new WorkloadError('path-not-allowed', 'the file name must be a plain name')
    return placeFile(aside, await insideFolder(inputDir, subfolder), filename, overwrite)
  }

  return {
    async find({ filename, subfolder, type }) {
      const name = subfolder === '' ? filename : `${subfolder}/${filename}`
      const path = isOfJobs(folders[type], name) ? undefined : await findFile(folders[type], name)
      return path === undefined
        ? undefined
        : { path, mime: sniff(await headOf(path))?.mime ?? 'application/octet-stream' }
    },
    async view(path, view) {
      try {
        return 'channel' in view ? await channelOf(path, view.channel) : await previewOf(path, view)
      } catch (cause) {
        throw new WorkloadError('media-unsupported', 'the file cannot be read as a picture', { cause })
      }
    },
    async receive(stream) {
      const root = await insideFolder(inputDir, '')
      const folder = await mkdtemp(join(root, '.part-'))
      const aside = join(folder, 'upload')
      const discard = () => rm(folder, { recursive: true, force: true })
      try {
        await pipeline(stream, atMost(maxBytes), createWriteStream(aside))
        const type = sniff(await headOf(aside))
        if (!type?.accepted)
          throw new WorkloadError('media-unsupported', `${type?.name ?? 'this'} is no picture that can be used`)
      } catch (error) {
        await discard()
        throw error
      }
      return {
        discard,
        place: (upload) => place(aside, upload),
        async placeAsMask(upload, original) {
          const masked = join(folder, 'masked')
          await writeFile(masked, await maskedPicture(original, aside))
          return place(masked, upload)
        },
      }
    },
  }
}

async function maskedPicture(original: string, mask: string): Promise<Buffer> {
  try {
    return await withAlphaOf(await readFile(original), await readFile(mask))
  } catch (cause) {
    throw new WorkloadError('media-unsupported', `the mask cannot be used: ${messageOf(cause)}`, { cause })
  }
}

async function headOf(path: string): Promise<Uint8Array> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Hands bytes on and throws when there are too many. */
const atMost = (maxBytes: number) =>
  async function* (source: AsyncIterable<Buffer>) {
    let bytes = 0
    for await (const chunk of source) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new WorkloadError('media-too-large', `a picture may have ${maxBytes} bytes at most`)
      yield chunk
    }
  }
