import { parseJson } from '../base/json.ts'
import type { Context } from './context.ts'

/** Between two writes while an application prints. */
const FLUSH_MS = 250
/** Of a log entry. */
const MAX_CHARACTERS = 10_000
/** Of one statement; databases take 65,535 values in one. */
const MAX_ROWS = 1000

/** Where the lines of one container go. */
export interface Output {
  add(line: string): void
  flush(): Promise<void>
}

/** Writes what an application prints among the log entries of its organization, a few lines at a time. */
export function appendOutput(
  { db, now, log }: Pick<Context, 'db' | 'now' | 'log'>,
  organizationId: string,
  labels: Readonly<Record<string, string>>,
): Output {
  let lines: { readonly time: Date; readonly text: string }[] = []
  let timer: NodeJS.Timeout | undefined
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const written = lines
    lines = []
    if (written.length === 0) return
    const row = ({ time, text }: (typeof written)[number]) => ({
      organization_id: organizationId,
      time,
      receive_time: new Date(now()),
      severity: 'default',
      resource_type: 'container',
      labels: JSON.stringify(labels),
      ...contentOf(text),
    })
    for (let i = 0; i < written.length; i += MAX_ROWS)
      await db
        .insertInto('log_entries')
        .values(written.slice(i, i + MAX_ROWS).map(row))
        .execute()
  }
  return {
    add(line) {
      if (line === '') return
      lines.push({ time: new Date(now()), text: line.replaceAll('\0', '').slice(0, MAX_CHARACTERS) })
      timer ??= setTimeout(() => {
        flush().catch((err) => log.warn({ err }, 'lines of an application were lost'))
      }, FLUSH_MS)
    },
    flush,
  }
}

/** Beyond what the database can hold. */
const HUGE_NUMBER = /\d[eE][+-]?\d{4}/

/** A line that is a JSON object is kept as one, unless the database could not hold it and the lines beside it were lost. */
function contentOf(text: string) {
  try {
    if (text.startsWith('{') && !HUGE_NUMBER.test(text) && parseJson(text)) return { text_log: null, json_log: text }
  } catch {
    // Then it is text that begins with a brace.
  }
  return { text_log: text, json_log: null }
}
