import type { SystemEventName } from '../../contracts/system-event.ts'

/** Something to tell. */
export interface SystemEvent {
  readonly event: SystemEventName
  /** Plain data. */
  readonly data: unknown
  /** Events of one line are told one after another: a prompt's id, or `''` for those of no prompt. */
  readonly line: string
  /** Of progress: it takes the place of what waits in its line under the same name. */
  readonly replaces?: string
}

/** Events that wait to be told, in the order in which they came. */
export interface EventLines {
  readonly size: number
  add(event: SystemEvent): void
  /** Takes the oldest event that is the first of its line and that `isReady` lets go. */
  take(isReady: (event: SystemEvent) => boolean): SystemEvent | undefined
  /** Whether something newer waits that would have taken the place of `event`. */
  hasNewer(event: SystemEvent): boolean
}

/** At most `limit` wait: progress is dropped before all else, then what has waited for longest. */
export function createEventLines(limit: number, onDropped: () => void): EventLines {
  const waiting: SystemEvent[] = []
  const sameAs = ({ line, replaces }: SystemEvent): number =>
    replaces === undefined ? -1 : waiting.findIndex((other) => other.line === line && other.replaces === replaces)
  return {
    get size() {
      return waiting.length
    },
    add(event) {
      const former = sameAs(event)
      if (former >= 0) waiting.splice(former, 1)
      waiting.push(event)
      if (waiting.length <= limit) return
      waiting.splice(Math.max(0, waiting.findIndex(isProgress)), 1)
      onDropped()
    },
    take(isReady) {
      const held = new Set<string>()
      const at = waiting.findIndex((event) => {
        if (!held.has(event.line) && isReady(event)) return true
        held.add(event.line)
        return false
      })
      return at < 0 ? undefined : waiting.splice(at, 1)[0]
    },
    hasNewer: (event) => sameAs(event) >= 0,
  }
}

/** Whether an event may be left out when a newer one of its kind is there. */
export const isProgress = ({ replaces }: SystemEvent): boolean => replaces !== undefined
