import { rowsOf, stackRows, takeRows } from '../tensor/rows.ts'
import type { Tensors } from './session.ts'

/**
 * Runs a graph that takes each of the inputs `once` as one value for all its rows: rows that agree in them go
 * together, the others in runs of their own, and each row gets its own outputs. Those inputs arrive with a value a row.
 */
export async function runEqualRows(
  feeds: Tensors,
  once: readonly string[],
  run: (feeds: Tensors) => Promise<Tensors>,
): Promise<Tensors> {
  const rows = rowsOf(Object.values(feeds)[0]!)
  const groups = new Map<string, number[]>()
  for (let row = 0; row < rows; row++) {
    const values = once.map((name) => takeRows(feeds[name]!, row, row + 1).data.join()).join(' ')
    groups.set(values, [...(groups.get(values) ?? []), row])
  }
  const results: Tensors[] = Array.from({ length: rows }, () => ({}))
  for (const members of groups.values()) {
    const outputs = Object.entries(await run(partOf(feeds, once, members)))
    for (const [i, row] of members.entries())
      results[row] = Object.fromEntries(outputs.map(([name, output]) => [name, takeRows(output, i, i + 1)]))
  }
  return Object.fromEntries(
    Object.keys(results[0]!).map((name) => [
      name,
      stackRows(
        results.map((result) => result[name]!),
        rows,
      ),
    ]),
  )
}

/** The feeds of the rows `members`, which agree in the inputs `once`. */
function partOf(feeds: Tensors, once: readonly string[], members: readonly number[]): Tensors {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, feed]) => {
      const wanted = once.includes(name) ? members.slice(0, 1) : members
      const parts = wanted.map((row) => takeRows(feed, row, row + 1))
      return [name, stackRows(parts, parts.length)]
    }),
  )
}
