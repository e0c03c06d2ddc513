import { createReadStream } from 'node:fs'
import { stringifyExact } from '../../common/json.ts'

/**
 * Bytes of a file in memory at a time: a multiple of 3, so that each becomes whole base64, and few enough that V8 collects
 * the texts while they are young.
 */
const CHUNK = 3 * 16 * 1024

/** A file that becomes a string of base64 in JSON, read when it is its turn. */
export class FileInBase64 {
  readonly path: string
  readonly bytes: number

  constructor({ path, bytes }: { readonly path: string; readonly bytes: number }) {
    this.path = path
    this.bytes = bytes
  }
}

/** JSON of which only the files are still to be read. */
export type UnreadJson = readonly (string | FileInBase64)[]

/** The compact JSON of `members`, of which each may be a file or a list of files; undefined ones are left out. */
export function unreadJson(members: Readonly<Record<string, unknown>>): UnreadJson {
  const parts: (string | FileInBase64)[] = []
  let text = ''
  const add = (value: unknown): void => {
    if (!(value instanceof FileInBase64)) {
      text += stringifyExact(value)
      return
    }
    parts.push(`${text}"`, value)
    text = '"'
  }
  const open = (mark: string, i: number) => (text += i === 0 ? mark : ',')
  for (const [i, [key, value]] of Object.entries(members)
    .filter(([, member]) => member !== undefined)
    .entries()) {
    open('{', i)
    text += `${JSON.stringify(key)}:`
    if (!isFiles(value)) {
      add(value)
      continue
    }
    for (const [j, file] of value.entries()) {
      open('[', j)
      add(file)
    }
    text += ']'
  }
  return [...parts, `${text || '{'}}`]
}

/** The length of the whole, for which no file is read. */
export function bytesOf(json: UnreadJson): number {
  const each = json.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : 4 * Math.ceil(part.bytes / 3)))
  return each.reduce((sum, bytes) => sum + bytes, 0)
}

/** The text in pieces, so that no file is ever whole in memory. */
export async function* piecesOf(json: UnreadJson): AsyncGenerator<string> {
  for (const part of json)
    if (typeof part === 'string') yield part
    else yield* createReadStream(part.path, { encoding: 'base64', highWaterMark: CHUNK })
}

const isFiles = (value: unknown): value is readonly FileInBase64[] =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => entry instanceof FileInBase64)
