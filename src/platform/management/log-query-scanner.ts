import { invalid } from '../base/read-body.ts'

const SHOWN_CHARACTERS = 30

/** Reads a log query from its beginning to its end; white space between what is taken does not count. */
export interface LogQueryScanner {
  /** Where what was taken last begins; for faults that are seen later. */
  readonly last: number
  /** What follows if it is of this form, which must be sticky; its groups, with the whole first. */
  take(form: RegExp): RegExpExecArray | undefined
  /** Whether it is what follows. */
  isAt(form: RegExp): boolean
  isAtEnd(): boolean
  /** A 400 that says where it stopped, what was expected there and what was found. `at` is a place such as `last`. */
  fault(expected: string, at?: number): Error
}

export function createLogQueryScanner(query: string): LogQueryScanner {
  const behindSpace = (from: number): number => {
    const space = /\s*/y
    space.lastIndex = from
    space.test(query)
    return space.lastIndex
  }
  let place = behindSpace(0)
  let last = place
  return {
    get last() {
      return last
    },
    take(form) {
      form.lastIndex = place
      const found = form.exec(query)
      if (!found) return undefined
      last = place
      place = behindSpace(form.lastIndex)
      return found
    },
    isAt(form) {
      form.lastIndex = place
      return form.test(query)
    },
    isAtEnd: () => place === query.length,
    fault(expected, at = place) {
      const rest = query.slice(at)
      const shown = rest.length > SHOWN_CHARACTERS ? `${rest.slice(0, SHOWN_CHARACTERS)}…` : rest
      const found = rest === '' ? 'the query ends there' : `found ${JSON.stringify(shown)}`
      return invalid({ query: [`at character ${at + 1}: expected ${expected}, but ${found}`] })
    },
  }
}
