/** The x of A·x = b for a small square A given by rows, by Gauss' elimination with the largest pivot of each column. */
export function solveLinear(rows: readonly (readonly number[])[], b: readonly number[]): readonly number[] {
  const system = rows.map((row, i) => [...row, b[i]!])
  for (let column = 0; column < system.length; column++) {
    const size = (row: number) => Math.abs(system[row]![column]!)
    let pivot = column
    for (let row = column + 1; row < system.length; row++) if (size(row) > size(pivot)) pivot = row
    const chosen = system[pivot]!
    system[pivot] = system[column]!
    system[column] = chosen
    for (const [i, row] of system.entries()) {
      if (i === column) continue
      const factor = row[column]! / chosen[column]!
      for (let k = column; k < row.length; k++) row[k]! -= factor * chosen[k]!
    }
  }
  return system.map((row, i) => row.at(-1)! / row[i]!)
}
