import { readFile } from 'node:fs/promises'
import { parseExact } from '../../common/json.ts'

export interface WarmUpFile {
  readonly file: string
  /** Whether it is a fault when the file is not there. */
  readonly required: boolean
}

/** The body of the prompt to warm up with: the file holds one, or only its graph. Undefined when there is no file. */
export async function readWarmUp({ file, required }: WarmUpFile): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !required) return undefined
    throw error
  })
  if (text === undefined) return undefined
  const content = parseExact(text)
  const isGraph = typeof content === 'object' && content !== null && !Object.hasOwn(content, 'prompt')
  return isGraph ? { prompt: content } : content
}
