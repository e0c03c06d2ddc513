import type { Log } from '../../common/log.ts'
import { messageOf } from './errors.ts'

/** Tells of something that is done again and again when it begins to fail, and when it works again. */
export interface Trouble {
  failed(error: unknown): void
  passed(): void
}

/** `what` is a sentence, e.g. "no job can be taken". */
export function createTrouble(log: Log, what: string): Trouble {
  let lasts = false
  return {
    failed(error) {
      if (lasts) return
      lasts = true
      log.warn({ reason: messageOf(error) }, what)
    },
    passed() {
      if (!lasts) return
      lasts = false
      log.info({ trouble: what }, 'it works again')
    },
  }
}
