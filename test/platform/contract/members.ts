type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy of a JSON value in which the member at a path like `a.0.b` is `value`; undefined takes it away. */
export function withMember(whole: unknown, path: string, value: unknown): unknown {
  const [name = '', ...rest] = path.split('.')
  const next = rest.length === 0 ? value : withMember(at(whole, name), rest.join('.'), value)
  if (Array.isArray(whole) || /^\d+$/.test(name)) {
    const items: unknown[] = Array.isArray(whole) ? [...whole] : []
    items[Number(name)] = next
    return items
  }
  const members = new Map(Object.entries(isObject(whole) ? whole : {}))
  if (next === undefined) members.delete(name)
  else members.set(name, next)
  return Object.fromEntries(members)
}

/** The member at a path; undefined where there is none. */
export const at = (whole: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (typeof inner === 'object' ? (inner as Members | null)?.[name] : undefined),
      whole,
    )

/** Objects joined member by member; the second one wins. */
export function joined(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return other
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries(
    [...names].map((name) => [name, name in other ? joined(one[name], other[name]) : one[name]]),
  )
}
