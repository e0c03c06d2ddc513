/** A table of costs, `rows` by `columns`. */
export interface CostTable {
  readonly rows: number
  readonly columns: number
  readonly values: Float32Array
}

const DIAGONAL = 0
const DOWN = 1

/**
 * The cheapest way through `costs` from the first row and column to the last, one row or column (or both) on at a time:
 * dynamic time warping. Gives the column in which each row begins.
 */
export function cheapestPath({ rows, columns, values }: CostTable): readonly number[] {
  const width = columns + 1
  const totals = new Float64Array((rows + 1) * width).fill(Infinity)
  const steps = new Uint8Array((rows + 1) * width)
  totals[0] = 0
  for (let row = 1; row <= rows; row++)
    for (let column = 1; column <= columns; column++) {
      const at = row * width + column
      const [diagonal, down, right] = [totals[at - width - 1]!, totals[at - width]!, totals[at - 1]!]
      const step = diagonal < down && diagonal < right ? DIAGONAL : down < diagonal && down < right ? DOWN : 2
      totals[at] = values[(row - 1) * columns + column - 1]! + Math.min(diagonal, down, right)
      steps[at] = step
    }
  const begins = new Array<number>(rows).fill(0)
  let [row, column] = [rows, columns]
  while (row > 0 && column > 0) {
    begins[row - 1] = column - 1
    const step = steps[row * width + column]
    if (step !== DOWN) column -= 1
    if (step === DIAGONAL || step === DOWN) row -= 1
  }
  return begins
}
