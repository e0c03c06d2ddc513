import { unlessAborted } from '../base/abort.ts'

/** Does `work` when all that was asked for the same place before has ended. */
export type InTurn = <T>(place: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** One upload at a time at a place: what comes last replaces the others whole, instead of meeting them half-way. */
export function createTurns(): InTurn {
  const ends = new Map<string, Promise<void>>()
  return async (place, signal, work) => {
    const before = ends.get(place)
    let leave!: () => void
    const own = new Promise<void>((resolve) => {
      leave = resolve
    })
    const end = before ? before.then(() => own) : own // one that gives up waiting lets nobody pass those before it
    ends.set(place, end)
    void end.then(() => ends.get(place) === end && ends.delete(place))
    try {
      if (before) await unlessAborted(before, signal)
      return await work()
    } finally {
      leave()
    }
  }
}
