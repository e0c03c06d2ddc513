import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf } from '../base/errors.ts'
import { parseImage } from './image-reference.ts'

/** What runs in place of an image, by a pattern for its name; the first that matches counts. */
export type ImageCommands = Readonly<Record<string, readonly string[]>>

const fileSchema = z.record(z.string().min(1), z.array(z.string().min(1)).min(1))

/** Reads such a mapping from a JSON file. Throws an error that names the file and every fault in it. */
export async function readImageCommands(file: string): Promise<ImageCommands> {
  const parsed = fileSchema.safeParse(await readJson(file))
  if (!parsed.success)
    throw new Error(`the commands of images in ${file} are not valid:\n${z.prettifyError(parsed.error)}`)
  return parsed.data
}

async function readJson(file: string): Promise<unknown> {
  const content = await readFile(file, 'utf8')
  try {
    return JSON.parse(content)
  } catch (cause) {
    throw new Error(`${file} is not valid JSON: ${messageOf(cause)}`, { cause })
  }
}

/** The command of an image. A pattern is its whole name, or the last segment of it without tag; `*` stands for anything. */
export function commandOfImage(commands: ImageCommands, image: string): readonly string[] | undefined {
  const { name } = parseImage(image)
  for (const [pattern, command] of Object.entries(commands)) {
    const matches = matcherOf(pattern)
    if (matches.test(image) || matches.test(name)) return command
  }
  return undefined
}

const matcherOf = (pattern: string): RegExp => new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 's')

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
