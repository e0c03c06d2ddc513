/** A job that was handed out; its lease is renewed until one of these is called. None of them fails: what cannot be told runs out with the lease. */
export interface Hold {
  readonly id: string
  /** Puts it back, to be handed out again. */
  again(): Promise<void>
  /** Nobody is to have it any more. */
  done(): Promise<void>
  /** Is silent from now on, as a process that died would be. */
  drop(): void
}

/**
 * Hands out the ids of jobs, first in, first out, each to one taker at a time. Places are named as `bullNameOf` does. The
 * records are the truth: what stands here is only whose turn it is (platform reference, section 14.4).
 */
export interface Dispatch {
  /** Jobs that are there keep their place. */
  add(place: string, ids: readonly string[]): Promise<void>
  /** One that is held stays with its holder. */
  remove(place: string, id: string): Promise<void>
  /** Forgets a place and everything in it. */
  drop(place: string): Promise<void>
  take(place: string): Promise<Hold | undefined>
  /** Puts back what was held by somebody who is silent for longer than the lease. Resolves with their ids. */
  recover(place: string): Promise<readonly string[]>
  /** How many it knows, held or not. */
  count(place: string): Promise<number>
  /** Forgets a place in which something is held, for where all that held something are gone. */
  release(place: string): Promise<void>
  /** Whether nobody holds it. */
  isWaiting(place: string, id: string): Promise<boolean>
  close(): Promise<void>
}
