/** What of a log entry is compared. */
export type LogField =
  | { readonly kind: 'severity' | 'text_log' | 'resource_type' }
  | { readonly kind: 'label'; readonly name: string }
  /** From the outermost member of json_log inwards. */
  | { readonly kind: 'json'; readonly path: readonly string[] }

export type LogComparison = '=' | '>' | '<' | '>=' | '<=' | 'contains' | 'startswith' | 'endswith'

/** Whether it compares texts even where a number is given. */
export const isAboutText = (comparison: LogComparison): boolean =>
  comparison === 'contains' || comparison === 'startswith' || comparison === 'endswith'

/** Holds where the field is there and compares so; a missing field makes no condition hold. */
export interface LogCondition {
  readonly kind: 'condition'
  readonly field: LogField
  readonly comparison: LogComparison
  readonly ignoresCase: boolean
  /** What stood between the quotes, or the number as it was written. */
  readonly value: { readonly text: string; readonly isNumber: boolean }
}

/** A log query as it was meant (platform reference, section 25.3); a negated operator is a negated condition. */
export type LogFilter =
  | LogCondition
  | { readonly kind: 'not'; readonly of: LogFilter }
  | { readonly kind: 'all' | 'any'; readonly of: readonly LogFilter[] }
