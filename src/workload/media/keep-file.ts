import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Keeps `bytes` in `folder` under a name made from them, `<first 32 hex digits of the SHA-256>.<extension>`, and
 * resolves with that name. The file appears only when it is whole, however many write it at once.
 */
export async function keepFile(folder: string, bytes: Uint8Array, extension: string): Promise<string> {
  const name = `${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}.${extension}`
  const path = join(folder, name)
  if (
    await access(path).then(
      () => true,
      () => false,
    )
  )
    return name
  await mkdir(folder, { recursive: true })
  const aside = await mkdtemp(join(folder, '.part-'))
  try {
    await writeFile(join(aside, name), bytes)
    await rename(join(aside, name), path)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
  return name
}
