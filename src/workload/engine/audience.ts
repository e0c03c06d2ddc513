/** Who looks at a prompt while it runs; nothing is made for an empty house. */
export interface Audience {
  /** Whether anybody looks. */
  readonly present: boolean
  /** Somebody comes. To be told when they go: call what is returned, once. */
  join(): () => void
  /** Calls `listener` whenever `present` has changed, until what is returned is called. */
  onChange(listener: () => void): () => void
}

/** An empty house. */
export function createAudience(): Audience {
  const listeners = new Set<() => void>()
  let seats = 0
  const take = (change: 1 | -1): void => {
    const before = seats > 0
    seats += change
    if (seats > 0 !== before) for (const listener of listeners) listener()
  }
  return {
    get present() {
      return seats > 0
    },
    join() {
      take(1)
      return () => take(-1)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
