/** Own changes make a count worthless that is under way; after so many the next is taken as it is. */
const MOST_DISCARDED = 5

/** How many entries wait: what was counted, and what this server has changed since. */
export interface WaitingCount {
  readonly value: number
  /** Does `work`, which changes the number by what it resolves with. */
  change<T>(work: () => Promise<T>, by: (result: T) => number): Promise<T>
  /** Counts anew. */
  refresh(count: () => Promise<number>): Promise<void>
}

export function createWaitingCount(): WaitingCount {
  let value = 0
  let underWay = 0
  let changes = 0
  let discarded = 0
  return {
    get value() {
      return Math.max(0, value)
    },
    async change(work, by) {
      underWay++
      changes++
      try {
        const result = await work()
        value += by(result)
        return result
      } finally {
        underWay--
      }
    },
    async refresh(count) {
      const before = changes
      const quiet = underWay === 0
      const counted = await count()
      if ((quiet && changes === before) || discarded >= MOST_DISCARDED) {
        value = counted
        discarded = 0
      } else discarded++
    },
  }
}
