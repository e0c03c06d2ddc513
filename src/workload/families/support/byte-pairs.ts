/** What two neighbouring symbols become, or nothing. The result is above both, and the lower result goes first. */
export type Merge = (left: number, right: number) => number | undefined

/**
 * Byte-pair encoding (Sennrich et al. 2016): of all neighbours that can merge, the pair with the lowest result does,
 * the leftmost of equals, until none can. Candidates wait in a heap, so that a word of a million letters
 * costs n·log n and not n².
 */
export function joinPairs(symbols: readonly number[], merge: Merge): readonly number[] {
  const ids = [...symbols]
  const next = ids.map((_, i) => i + 1)
  const previous = ids.map((_, i) => i - 1)
  const waiting: number[] = []
  /** What the symbol at `at` and its right neighbour become. */
  const resultAt = (at: number) => (next[at]! < ids.length ? merge(ids[at]!, ids[next[at]!]!) : undefined)
  const consider = (at: number) => {
    const result = resultAt(at)
    if (result !== undefined) push(waiting, result * PLACES + at)
  }

  for (let i = 0; i + 1 < ids.length; i++) consider(i)
  while (waiting.length > 0) {
    const lowest = pop(waiting)
    const at = lowest % PLACES
    const result = Math.floor(lowest / PLACES)
    if (ids[at] === GONE || resultAt(at) !== result) continue // a neighbour has merged meanwhile
    const taken = next[at]!
    ids[at] = result
    ids[taken] = GONE
    next[at] = next[taken]!
    if (next[at]! < ids.length) previous[next[at]!] = at
    consider(at)
    if (previous[at]! >= 0) consider(previous[at]!)
  }
  return ids.filter((id) => id !== GONE)
}

/** A merge that waits is one number, `result · 2^32 + place`: its order is the order of merging. */
const PLACES = 2 ** 32
const GONE = -1

function push(heap: number[], value: number): void {
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (heap[parent]! <= value) break
    heap[at] = heap[parent]!
    at = parent
  }
  heap[at] = value
}

function pop(heap: number[]): number {
  const lowest = heap[0]!
  const value = heap.pop()!
  if (heap.length === 0) return lowest
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
    if (child >= heap.length || heap[child]! >= value) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = value
  return lowest
}
