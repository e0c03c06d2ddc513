import type { z } from 'zod'

const units: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items', map: 'entries' }

const articled: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'an array',
}

/** The reason of a fault as callers read it behind the path of a member; undefined where zod's own words do. */
export function reasonOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${articled[issue.expected as string] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${(issue.values as readonly unknown[])
        .map(String)
        .join(', ')
        .replace(/, (?=[^,]*$)/, ' or ')}`
    case 'too_small':
      return bound('at least', issue.origin as string, issue.minimum)
    case 'too_big':
      return bound('at most', issue.origin as string, issue.maximum)
    case 'unrecognized_keys':
      return `must not have the ${(issue.keys as readonly string[]).map((key) => `member ${key}`).join(' and the ')}`
    case 'invalid_format':
      return `must be a valid ${issue.format}`
    case 'invalid_union':
      return 'has none of the allowed forms'
    default:
      return undefined
  }
}

function bound(side: string, origin: string, limit: unknown): string {
  const unit = units[origin]
  return unit === undefined ? `must be ${side} ${limit}` : `must have ${side} ${limit} ${unit}`
}

/** Member path → reasons; faults of the whole stand under `root`. */
export function faultsOf(error: z.ZodError, root: string): Readonly<Record<string, readonly string[]>> {
  const faults: Record<string, string[]> = {}
  for (const { path, message } of error.issues) {
    const member = path.map(String).join('.') || root
    faults[member] = [...(faults[member] ?? []), message]
  }
  return faults
}
