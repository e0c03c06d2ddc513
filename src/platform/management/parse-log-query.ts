import { logSeverities } from '../../contracts/platform/log-entry.ts'
import { isAboutText, type LogComparison, type LogCondition, type LogField, type LogFilter } from './log-query.ts'
import { createLogQueryScanner, type LogQueryScanner } from './log-query-scanner.ts'

/** How deep parentheses may stand in each other. */
const MAX_DEPTH = 50

/** A sticky form keeps a place between two uses, so each query makes its own. */
const forms = () => ({
  not: /not(?![\w.-])/y,
  and: /and(?![\w.-])/y,
  or: /or(?![\w.-])/y,
  open: /\(/y,
  close: /\)/y,
  word: /[\w-]+/y,
  dot: /\./y,
  // Negated or not, what is compared, and whether case counts.
  operator: /(?<not>!?)(?<same>=|(?:contains|startswith|endswith)(?![\w.-]))(?<tilde>~?)|(?<order>[<>]=?)/y,
  quoted: /"((?:[^"\\]|\\[\s\S])*)"/y,
  quote: /"/y,
  // What the database can read as a number without fail.
  number: /-?\d{1,255}(?:\.\d{1,255})?(?:[eE][+-]?\d{1,3})?(?![\w.])/y,
})

/** Reads a log query. Throws a 400 that says where it is wrong and what was expected there. */
export function parseLogQuery(query: string): LogFilter {
  const scanner = createLogQueryScanner(query)
  if (scanner.isAtEnd()) return { kind: 'all', of: [] }
  const { take, fault, isAtEnd } = scanner
  const form = forms()

  const expression = (depth: number): LogFilter => {
    const either: LogFilter[] = []
    let all: LogFilter[] = []
    for (;;) {
      all.push(take(form.not) ? { kind: 'not', of: term(depth) } : term(depth))
      if (take(form.and)) continue
      either.push(joined('all', all))
      if (!take(form.or)) return joined('any', either)
      all = []
    }
  }
  const term = (depth: number): LogFilter => {
    if (!take(form.open)) return condition(scanner, form)
    if (depth === MAX_DEPTH) throw fault(`no more than ${MAX_DEPTH} parentheses in each other`, scanner.last)
    const inner = expression(depth + 1)
    if (!take(form.close)) throw fault('and, or or )')
    return inner
  }

  const whole = expression(0)
  if (!isAtEnd()) throw fault('and, or or the end')
  return whole
}

const joined = (kind: 'all' | 'any', of: readonly LogFilter[]): LogFilter => (of.length === 1 ? of[0]! : { kind, of })

type Forms = ReturnType<typeof forms>

function condition(scanner: LogQueryScanner, form: Forms): LogFilter {
  const field = fieldIn(scanner, form)
  const { comparison, isNegated, ignoresCase } = operatorIn(scanner, form)
  const value = valueIn(scanner, form)
  const isName = (logSeverities as readonly string[]).includes(ignoresCase ? value.text.toLowerCase() : value.text)
  if (field.kind === 'severity' && !isAboutText(comparison) && !isName)
    throw scanner.fault(`one of ${logSeverities.map((name) => `"${name}"`).join(', ')}`, scanner.last)
  const one: LogCondition = { kind: 'condition', field, comparison, ignoresCase, value }
  return isNegated ? { kind: 'not', of: one } : one
}

function fieldIn(scanner: LogQueryScanner, form: Forms): LogField {
  const expected = '(, severity, text_log, json_log.NAME, resource.type or resource.labels.NAME'
  const name = scanner.take(form.word)?.[0]
  const start = scanner.last
  if (name === 'severity' || name === 'text_log') return { kind: name }
  if (name === 'json_log') return { kind: 'json', path: [memberIn(scanner, form), ...membersIn(scanner, form)] }
  if (name !== 'resource') throw name === undefined ? scanner.fault(expected) : scanner.fault(expected, start)
  if (!scanner.take(form.dot)) throw scanner.fault('.type or .labels.NAME')
  const part = scanner.take(form.word)?.[0]
  if (part === 'type') return { kind: 'resource_type' }
  if (part === 'labels') return { kind: 'label', name: memberIn(scanner, form) }
  throw part === undefined ? scanner.fault('type or labels.NAME') : scanner.fault('type or labels.NAME', scanner.last)
}

/** A dot and a name, which may stand between quotes. */
function memberIn(scanner: LogQueryScanner, form: Forms): string {
  if (!scanner.take(form.dot)) throw scanner.fault('. and a name')
  const [name] = scanner.take(form.word) ?? []
  if (name !== undefined) return name
  const [, quoted] = scanner.take(form.quoted) ?? []
  if (quoted === undefined) throw scanner.fault('a name')
  return unescaped(quoted)
}

function membersIn(scanner: LogQueryScanner, form: Forms): readonly string[] {
  const members: string[] = []
  while (scanner.isAt(form.dot)) members.push(memberIn(scanner, form))
  return members
}

function operatorIn(scanner: LogQueryScanner, form: Forms) {
  const { not, same, tilde, order } = scanner.take(form.operator)?.groups ?? {}
  const comparison = (same ?? order) as LogComparison | undefined // the form holds no other words and signs
  if (comparison === undefined)
    throw scanner.fault('an operator: =, !=, =~, !=~, >, <, >=, <=, contains, startswith or endswith')
  return { comparison, isNegated: not === '!', ignoresCase: tilde === '~' }
}

function valueIn(scanner: LogQueryScanner, form: Forms): LogCondition['value'] {
  const [, quoted] = scanner.take(form.quoted) ?? []
  if (quoted !== undefined) return { text: unescaped(quoted), isNumber: false }
  const [number] = scanner.take(form.number) ?? []
  if (number !== undefined) return { text: number, isNumber: true }
  throw scanner.fault(scanner.isAt(form.quote) ? 'a text that ends with "' : 'a text between " or a number')
}

/** A backslash stands for the quotation mark or the backslash behind it; before anything else it is one itself. */
const unescaped = (quoted: string): string => quoted.replace(/\\(["\\])/g, '$1')
