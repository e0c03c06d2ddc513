import { createByteLru } from '../base/byte-lru.ts'
import type { RunContext } from './node.ts'

/** What a node gave in all its calls. */
export interface Outcome {
  /** One list a slot: its values flow on one by one. */
  readonly slots: readonly (readonly unknown[])[]
  readonly artifacts: readonly unknown[]
}

export type Progress = RunContext['progress']
export type Compute = (signal: AbortSignal, progress: Progress) => Promise<Outcome>

/** Results of nodes, shared by all prompts. */
export interface ResultCache {
  /** The result under `key` if it is there now; it counts as used. */
  get(key: string): Outcome | undefined
  /**
   * The result under `key`: the kept one, or that of a computation which is running for somebody else, or that of
   * `compute`. Whoever waits gets its progress and its failure; a failure is not kept. Who aborts `signal` leaves with
   * its reason and disturbs nobody, and `compute` is aborted when all have left. Its failure after the one who brought
   * it has left may come from that leaving, so the others compute anew. Without a key the result is nobody else's.
   */
  resolve(
    key: string | undefined,
    signal: AbortSignal,
    compute: Compute,
    onProgress: Progress,
  ): Promise<{ readonly result: Outcome; readonly cached: boolean }>
  /** Forgets every result that is kept. */
  clear(): void
}

/** Somebody who waits for a computation; `again` tells to compute anew. */
interface Waiter {
  readonly onProgress: Progress
  resolve(result: Outcome | 'again'): void
  reject(error: unknown): void
}

/** A computation that is running, for all who wait for it. */
interface Flight {
  readonly abort: AbortController
  readonly waiters: Set<Waiter>
  /** The one whose `compute` it is. */
  readonly owner: Waiter
}

/** An empty cache of `maxBytes`. `sizeOf` estimates the bytes of one value or artifact. */
export function createResultCache({
  maxBytes,
  sizeOf,
}: {
  readonly maxBytes: number
  readonly sizeOf: (value: unknown) => number
}): ResultCache {
  const kept = createByteLru<Outcome>(maxBytes)
  const flights = new Map<string, Flight>()

  const launch = async (key: string | undefined, { abort, waiters, owner }: Flight, compute: Compute) => {
    const land = () => key !== undefined && !abort.signal.aborted && flights.delete(key)
    try {
      const result = await compute(abort.signal, (value, max, sketch) => {
        for (const { onProgress } of waiters) onProgress(value, max, sketch)
      })
      if (land()) kept.set(key!, result, bytesOf(result, sizeOf))
      for (const waiter of waiters) waiter.resolve(result)
    } catch (error) {
      land()
      for (const waiter of waiters) {
        if (waiters.has(owner)) waiter.reject(error)
        else waiter.resolve('again')
      }
    }
  }

  /** Waits for the computation under `key`, which `compute` starts if none is running. */
  const wait = (key: string | undefined, signal: AbortSignal, compute: Compute, onProgress: Progress) =>
    new Promise<Outcome | 'again'>((resolve, reject) => {
      const settled = (settle: () => void) => {
        signal.removeEventListener('abort', giveUp)
        settle()
      }
      const waiter: Waiter = {
        onProgress,
        resolve: (result) => settled(() => resolve(result)),
        reject: (error) => settled(() => reject(error)),
      }
      const running = key === undefined ? undefined : flights.get(key)
      const flight = running ?? { abort: new AbortController(), waiters: new Set(), owner: waiter }
      const giveUp = () => {
        flight.waiters.delete(waiter)
        reject(signal.reason)
        if (flight.waiters.size > 0) return
        if (key !== undefined) flights.delete(key) // whoever comes now must not share the abort
        flight.abort.abort(signal.reason)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      flight.waiters.add(waiter)
      if (running) return
      if (key !== undefined) flights.set(key, flight)
      void launch(key, flight, compute)
    })

  const get = (key: string) => kept.get(key)

  return {
    get,
    clear: kept.clear,
    async resolve(key, signal, compute, onProgress) {
      for (;;) {
        signal.throwIfAborted()
        const hit = key === undefined ? undefined : get(key)
        if (hit) return { result: hit, cached: true }
        const result = await wait(key, signal, compute, onProgress)
        if (result !== 'again') return { result, cached: false }
      }
    },
  }
}

function bytesOf({ slots, artifacts }: Outcome, sizeOf: (value: unknown) => number): number {
  return [...slots.flat(), ...artifacts].reduce<number>((sum, value) => sum + sizeOf(value), 0)
}
