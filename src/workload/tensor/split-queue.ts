/** A box that may be split in two. */
export interface Split<T> {
  readonly box: T
  parts: readonly [Split<T>, Split<T>] | undefined
}

/**
 * A binary heap that gives the heaviest box first. Which of two equal ones comes first decides over the palette, so the
 * tie rules are Pillow's: a new one stays below an equal parent, the second of two equal children loses, and what sinks
 * passes an equal child.
 */
export function createSplitQueue<T>(weightOf: (box: T) => number) {
  const heap: Split<T>[] = []
  const weight = (i: number) => weightOf(heap[i]!.box)
  return {
    add(entry: Split<T>): void {
      let at = heap.push(entry) - 1
      while (at > 0) {
        const parent = (at - 1) >> 1
        if (weightOf(entry.box) <= weight(parent)) break
        heap[at] = heap[parent]!
        at = parent
      }
      heap[at] = entry
    },
    take(): Split<T> | undefined {
      const [top] = heap
      const last = heap.pop()
      if (top === undefined || last === undefined || heap.length === 0) return top
      let at = 0
      for (let child = 1; child < heap.length; child = at * 2 + 1) {
        if (child + 1 < heap.length && weight(child) < weight(child + 1)) child++
        if (weightOf(last.box) > weight(child)) break
        heap[at] = heap[child]!
        at = child
      }
      heap[at] = last
      return top
    },
  }
}
