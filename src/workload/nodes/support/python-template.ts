import type { Found } from './regex-run.ts'

const CONTROLS: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
}

/** `\g<1>`, `\g<name>`, an octal escape, a group of one or two digits, or one character behind a backslash. */
const ESCAPE = /\\(?:g<([^>]*)>|(0[0-7]{0,2}|[1-3][0-7]{2})|([1-9]\d?)|([\s\S]))/gu

/** A replacement as Python's `re.sub` reads it, filled with what was found. Throws for a group that is not there. */
export function expandTemplate(template: string, { groups, named }: Found): string {
  const group = (name: string): string => {
    const at = Number(name)
    const known = Number.isInteger(at) && name !== '' ? at < groups.length : Object.hasOwn(named, name)
    if (!known) throw new Error(`the replacement names a group ${name}, which the regular expression has not`)
    return (Number.isInteger(at) ? groups[at] : named[name]) ?? ''
  }
  return template.replace(ESCAPE, (whole, name?: string, octal?: string, number?: string, letter?: string) => {
    if (name !== undefined) return group(name)
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
    if (number !== undefined) return group(number)
    const control = CONTROLS[letter!]
    if (control === undefined && /[a-z]/i.test(letter!)) throw new Error(`the replacement has an escape ${whole}`)
    return control ?? whole
  })
}
