import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type LogSeverity, logSeverities } from '../../contracts/platform/log-entry.ts'
import { isAboutText, type LogComparison, type LogCondition, type LogField, type LogFilter } from './log-query.ts'

/** A filter as a condition on a row of `log_entries`; it is true or false, never null. What users wrote is always bound. */
export function sqlOf(filter: LogFilter): RawBuilder<SqlBool> {
  switch (filter.kind) {
    case 'condition':
      return filter.field.kind === 'severity' ? severityIs(filter) : sql`coalesce(${holds(filter)}, false)`
    case 'not':
      return sql`not ${sqlOf(filter.of)}`
    case 'all':
      return filter.of.length === 0 ? sql`true` : sql`(${sql.join(filter.of.map(sqlOf), sql` and `)})`
    case 'any':
      return sql`(${sql.join(filter.of.map(sqlOf), sql` or `)})`
  }
}

/** There are few severities, so which of them are meant is known beforehand. */
function severityIs({ comparison, ignoresCase, value }: LogCondition): RawBuilder<SqlBool> {
  const text = ignoresCase ? value.text.toLowerCase() : value.text
  const place = logSeverities.indexOf(text as LogSeverity)
  const meant = logSeverities.filter((name, i) => severityTests[comparison](name, text, i - place))
  return meant.length === 0 ? sql`false` : sql`severity in (${sql.join(meant)})`
}

/** `distance` is how much more urgent the severity is than the one that was named. */
const severityTests: Readonly<Record<LogComparison, (name: string, text: string, distance: number) => boolean>> = {
  '=': (name, text) => name === text,
  '>': (_name, _text, distance) => distance > 0,
  '<': (_name, _text, distance) => distance < 0,
  '>=': (_name, _text, distance) => distance >= 0,
  '<=': (_name, _text, distance) => distance <= 0,
  contains: (name, text) => name.includes(text),
  startswith: (name, text) => name.startsWith(text),
  endswith: (name, text) => name.endsWith(text),
}

/** Null where the field is missing, or is no number and is compared with one. */
function holds({ field, comparison, ignoresCase, value }: LogCondition): RawBuilder<SqlBool | null> {
  const text = textOf(field)
  if (value.isNumber && !isAboutText(comparison)) return tests[comparison](numberIn(text), sql`${value.text}::numeric`)
  const written = sql<string>`${value.text}::text`
  if (ignoresCase) return tests[comparison](lowered(text), lowered(written))
  return tests[comparison](sql`(${text}) collate "C"`, written) // by code points, in every database
}

type Text = RawBuilder<string | null>
type Value = RawBuilder<unknown>

const tests: Readonly<Record<LogComparison, (left: Value, right: Value) => RawBuilder<SqlBool | null>>> = {
  '=': (left, right) => sql`${left} = ${right}`,
  '>': (left, right) => sql`${left} > ${right}`,
  '<': (left, right) => sql`${left} < ${right}`,
  '>=': (left, right) => sql`${left} >= ${right}`,
  '<=': (left, right) => sql`${left} <= ${right}`,
  contains: (left, right) => sql`strpos(${left}, ${right}) > 0`,
  startswith: (left, right) => sql`starts_with(${left}, ${right})`,
  endswith: (left, right) => sql`right(${left}, length(${right})) = ${right}`,
}

/** The same letters in every database: its own rules may know only those of English. */
const lowered = (text: Text): Text => sql`lower((${text}) collate "und-x-icu") collate "C"`

function textOf(field: LogField): Text {
  switch (field.kind) {
    case 'severity':
    case 'text_log':
    case 'resource_type':
      return sql.ref(field.kind)
    case 'label':
      return sql`labels ->> ${field.name}::text`
    case 'json': {
      const value = sql`json_log #> array[${sql.join(field.path)}]::text[]`
      // Objects, lists and null are nothing that could be compared.
      return sql`case when jsonb_typeof(${value}) in ('string', 'number', 'boolean') then ${value} #>> '{}' end`
    }
  }
}

/** A text that is a number; so short that the database can read it. */
const numberIn = (text: Text): RawBuilder<number | null> =>
  sql`case when (${text}) ~ '^-?[0-9]{1,255}([.][0-9]{1,255})?([eE][+-]?[0-9]{1,3})?$' then (${text})::numeric end`
