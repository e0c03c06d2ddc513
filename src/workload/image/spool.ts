import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ConvertOutput } from '../../contracts/convert-output.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { rowsOf } from '../tensor/rows.ts'
import { encodeAnimation } from './animation.ts'
import { checkPrefix, createFileNames, expandPrefix } from './file-names.ts'
import type { Format } from './format.ts'
import type { Artifact } from './images.ts'
import { pipelineOf, type RawImage, rawImage } from './pixels.ts'
import { withTexts } from './png-text.ts'

/** An encoded picture on disk. */
export interface SpooledFile {
  /** What the client is told; may contain folders. */
  readonly filename: string
  /** Absolute; says nothing of the file name, so that no prefix can lead anywhere. */
  readonly path: string
  readonly bytes: number
  readonly mime: string
}

/** Where the pictures of one job wait, encoded, until they are delivered. */
export interface Spool {
  /**
   * One file a row of the batch, in order, or one for a moving picture, which is never converted; nothing for texts, and
   * for previews only if they are kept, as PNG. A file appears only when it is whole.
   */
  save(artifact: Artifact): Promise<readonly SpooledFile[]>
}

export interface SpoolOptions {
  readonly formats: ReadonlyMap<string, Format>
  readonly folder: string
  /** The job's id: letters, digits, `.`, `_` and `-`. */
  readonly id: string
  /** Whether names are `<id>_<prefix>` or `<id>` alone. */
  readonly prependId: boolean
  readonly convert?: ConvertOutput | undefined
  /** Whether previews get files too. */
  readonly keepPreviews?: boolean
  /** What files tell beside the picture, where their format has a place for it: `prompt`, `workflow` … */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly now: () => Date
}

/** A spool in `folder`, which is made when needed and may hold other jobs' files too. */
export function createSpool({
  formats,
  folder,
  id,
  prependId,
  convert,
  keepPreviews,
  metadata,
  now,
}: SpoolOptions): Spool {
  const names = createFileNames({ id, prependId })
  let files = 0

  const encode = async (image: RawImage, retention: 'output' | 'temp') => {
    if (convert && retention === 'output') return converted(image, convert, formats, metadata)
    const png = await (await pipelineOf(image)).png({ compressionLevel: 4 }).toBuffer()
    return { data: withTexts(png, metadata), mime: 'image/png' }
  }

  return {
    async save(artifact) {
      if (artifact.kind === 'text' || (artifact.retention === 'temp' && !keepPreviews)) return []
      const { kind, pixels, prefix, retention } = artifact
      const fault = checkPrefix(prefix)
      if (fault) throw new WorkloadError('path-not-allowed', `filename_prefix ${fault}`)
      const [, height = 0, width = 0] = pixels.dims
      const expanded = expandPrefix(prefix, { width, height, now: now() })
      const wanted = retention === 'output' ? convert?.format : undefined
      const extension = kind === 'animation' ? artifact.encoding.format : (wanted ?? 'png')
      const planned = Array.from({ length: kind === 'animation' ? 1 : rowsOf(pixels) }, (_, row) => ({
        row,
        filename: names.next(expanded, row, extension),
        path: resolve(folder, `${id}_${String(++files).padStart(5, '0')}.${extension}`),
      }))
      await makeIn(folder)
      const saved: SpooledFile[] = []
      for (const { row, filename, path } of planned) {
        const { data, mime } =
          kind === 'animation'
            ? await encodeAnimation(artifact, metadata)
            : await encode(rawImage(pixels, row), retention)
        await writeWhole(path, data)
        saved.push({ filename, path, bytes: data.length, mime })
      }
      return saved
    },
  }
}

/** Makes a folder in one that is there: what was given up meanwhile, and removed, is not to come back. */
async function makeIn(folder: string): Promise<void> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function converted(
  image: RawImage,
  { format: name, options }: ConvertOutput,
  formats: SpoolOptions['formats'],
  metadata: SpoolOptions['metadata'],
) {
  const format = formats.get(name)
  if (!format) throw new WorkloadError('conversion-failed', `this server has no encoder for ${name}`)
  const { width, height } = image
  if (Math.max(width, height) > format.maxSide)
    throw new WorkloadError(
      'conversion-failed',
      `${name} allows at most ${format.maxSide} pixels a side, the image has ${width}×${height}`,
    )
  try {
    const data = await format.encode(image, options ?? {})
    return { data: format.withMetadata?.(data, metadata) ?? data, mime: format.mime }
  } catch (cause) {
    throw new WorkloadError('conversion-failed', `the image could not be encoded as ${name}: ${messageOf(cause)}`, {
      cause,
    })
  }
}

async function writeWhole(path: string, data: Buffer): Promise<void> {
  const part = `${path}.part`
  try {
    await writeFile(part, data)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
