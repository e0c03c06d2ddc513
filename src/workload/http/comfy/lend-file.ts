import { z } from 'zod'
import { WorkloadError } from '../../base/errors.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { FileName, FoundFile, PictureFiles } from '../../jobs/picture-files.ts'

const kind = z.enum(['input', 'output', 'temp'])
const nameSchema = z.object({
  filename: z.string().min(1),
  subfolder: z.string().default(''),
  type: kind.default('output'),
})

/**
 * The file that a client names. `name [input]` says its folder too. Throws `not-found` without a name, `invalid-request`
 * for an unknown folder and `path-not-allowed` or `forbidden` for a name or folder that leads elsewhere.
 */
export function readFileName(sent: unknown): FileName {
  const parsed = nameSchema.safeParse(sent)
  if (!parsed.success) {
    const [field] = parsed.error.issues[0]!.path
    if (field === 'filename') throw new WorkloadError('not-found', 'a file is asked for by its filename')
    throw new WorkloadError('invalid-request', `${String(field)} is not one that can be used`, {
      location: String(field),
    })
  }
  const [, plain, folder] = /^(.*) \[(input|output|temp)\]$/s.exec(parsed.data.filename) ?? []
  const { subfolder } = parsed.data
  const filename = plain ?? parsed.data.filename
  const type = folder === undefined ? parsed.data.type : kind.parse(folder)
  if (filename.startsWith('/') || filename.includes('..'))
    throw new WorkloadError('path-not-allowed', 'a file name must not lead out of its folder')
  if (subfolder.startsWith('/') || subfolder.includes('\\') || subfolder.split('/').includes('..'))
    throw new WorkloadError('forbidden', 'the subfolder lies outside of the folder')
  return { filename, subfolder: subfolder.replace(/\/+$/, ''), type }
}

/** Lends a file that a job has shown, or one of the server's own folders. Throws `not-found`. */
export async function lendFile<T>(
  { jobs, files }: { readonly jobs: Pick<Jobs, 'lendShown'>; readonly files: PictureFiles },
  name: FileName,
  work: (file: FoundFile) => Promise<T>,
): Promise<T> {
  const { filename, subfolder, type } = name
  const told = subfolder === '' ? filename : `${subfolder}/${filename}`
  if (type !== 'input') {
    // Wrapped, so that work without a result is told from no file.
    const lent = await jobs.lendShown(told, type, async (file) => ({ result: await work(file) }))
    if (lent) return lent.result
  }
  const found = await files.find(name)
  if (!found) throw new WorkloadError('not-found', 'there is no such file')
  return work(found)
}
