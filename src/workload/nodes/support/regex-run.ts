import { createContext, Script } from 'node:vm'
import { InvalidPattern, type RegexFlags, translatePattern } from './python-regex.ts'

/** How long one search may take: some patterns would search for years. */
const LIMIT_MS = 1000

/** One place where a pattern was found. */
export interface Found {
  readonly index: number
  /** The whole match, then its groups; undefined where a group took no part. */
  readonly groups: readonly (string | undefined)[]
  readonly named: Readonly<Record<string, string | undefined>>
}

/** Where `pattern`, in Python's syntax, is found in `text`; undefined when it is no valid pattern. At most `count`, 0: all. */
export function findAll(pattern: string, text: string, flags: RegexFlags, count = 0): readonly Found[] | undefined {
  let script: Script
  try {
    const { source, flags: letters } = translatePattern(pattern, flags)
    new RegExp(source, letters)
    script = new Script(search, { filename: 'search' })
    const context = createContext({ source, letters: `${letters}g`, text, count })
    return JSON.parse(String(script.runInContext(context, { timeout: LIMIT_MS })), revive) as readonly Found[] // made by `search`
  } catch (error) {
    if (error instanceof InvalidPattern || error instanceof SyntaxError) return undefined
    if (isTimeout(error)) throw new Error(`the regular expression took longer than ${LIMIT_MS / 1000} s: simplify it`)
    throw error
  }
}

/** The error is made in that world, so it is no Error of ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** Runs in a world of its own, which can be stopped even inside a search. */
const search = `
  const found = []
  for (const match of text.matchAll(new RegExp(source, letters))) {
    found.push({ index: match.index, groups: [...match], named: { ...match.groups } })
    if (found.length === count) break
  }
  JSON.stringify(found)
`

/** JSON writes what is undefined in a list as null. */
const revive = (_key: string, value: unknown): unknown => (value === null ? undefined : value)
