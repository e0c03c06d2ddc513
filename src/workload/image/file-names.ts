import { posix } from 'node:path'

/** What is wrong with a `filename_prefix`, in words that follow its name; undefined when nothing is. */
export function checkPrefix(prefix: string): string | undefined {
  if (prefix.includes('\0')) return 'must not contain a NUL character'
  if (prefix.includes('\\')) return 'must not contain a backslash'
  if (prefix.split('/').includes('..')) return 'must not contain ".."'
  if (/^(\/|[A-Za-z]:)/.test(prefix)) return 'must not be an absolute path'
  if (Buffer.byteLength(prefix) > 255) return 'must not be longer than 255 bytes'
  return undefined
}

/** What ComfyUI's placeholders in a prefix stand for. */
export interface PrefixFacts {
  readonly width: number
  readonly height: number
  readonly now: Date
}

/** `prefix` with all placeholders but `%batch_num%` replaced, in local time. */
export function expandPrefix(prefix: string, { width, height, now }: PrefixFacts): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const values: Readonly<Record<string, string>> = {
    width: String(width),
    height: String(height),
    year: String(now.getFullYear()),
    month: two(now.getMonth() + 1),
    day: two(now.getDate()),
    hour: two(now.getHours()),
    minute: two(now.getMinutes()),
    second: two(now.getSeconds()),
  }
  return prefix.replace(/%([a-z]+)%/g, (placeholder, name: string) => values[name] ?? placeholder)
}

/**
 * Makes the names that clients are told for the files of one job: `<id>_<prefix>_<counter>_.<extension>`, or
 * `<id>_<counter>_.<extension>` when `prependId` is false. Each prefix has its own counter; no name is given twice.
 */
export function createFileNames({ id, prependId }: { readonly id: string; readonly prependId: boolean }) {
  const counters = new Map<string, number>()
  const given = new Set<string>()
  return {
    /** One name for the picture at `batchNumber` of its batch; `prefix` has gone through `expandPrefix`. */
    next(prefix: string, batchNumber: number, extension: string): string {
      const stem = prependId ? `${id}_${prefix === '' ? '' : posix.normalize(prefix)}` : id
      const numbered = stem.replaceAll('%batch_num%', String(batchNumber))
      for (;;) {
        const count = (counters.get(stem) ?? 0) + 1
        counters.set(stem, count)
        const name = `${numbered}_${String(count).padStart(5, '0')}_.${extension}`
        if (given.has(name)) continue
        given.add(name)
        return name
      }
    },
  }
}
