import type { Problem } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import type { OutputFile } from './target.ts'

/** What a prompt came to, and what those who asked are told of it. */
export type Parcel = CompleteParcel | FailedParcel

interface AnyParcel {
  /** The prompt's id. */
  readonly id: string
  /** What receivers tell repeated calls by: the id, and from the second run of it on `<id>.<run>`. */
  readonly webhookId: string
  /** When it ended, in epoch milliseconds. */
  readonly at: number
}

export interface CompleteParcel extends AnyParcel {
  readonly outcome: 'complete'
  /** The answer without `images`. */
  readonly head: Readonly<Record<string, unknown>>
  readonly files: readonly OutputFile[]
  /** Where the files were put, in their order; undefined when calls carry them in base64. */
  readonly urls: readonly string[] | undefined
}

export interface FailedParcel extends AnyParcel {
  readonly outcome: 'failed'
  readonly prompt: Prompt
  readonly problem: Problem
}

/** How far the delivery to one place is. Plain data: it is kept where it survives this process. */
export interface DeliveryState {
  /** The field of the request that asked for it. */
  readonly kind: string
  readonly status: 'pending' | 'delivered' | 'failed'
  /** Made so far, those that succeeded too. */
  readonly attempts: number
  /** Calls that have succeeded, where one for each file is made. */
  readonly done: number
  /** Attempts that failed since the last that succeeded; absent: none. */
  readonly failures?: number
  /** Epoch milliseconds; only while pending and after a first attempt. */
  readonly nextAttempt?: number
  /** A sentence without secrets. */
  readonly lastError?: string
}

/** Where to deliver to. */
export interface Destination {
  readonly kind: 'webhook' | 'webhook_v2'
  readonly url: string
}

/** Tells receivers what a prompt came to. */
export interface Webhooks {
  /**
   * What becomes of a result that is too large for a call to one of these: calls carry links to its files, which must then
   * be kept to be read, or that receiver is told `result-too-large`. Undefined when all calls carry their files.
   */
  tooLarge(parcel: Parcel, destinations: readonly Destination[]): 'links' | 'refused' | undefined
  /**
   * Calls every destination whose state is pending until each is delivered or has failed for good; the states are in the
   * order of `destinations`. `keep` is called after every attempt, and the next attempt waits for it. Rejects with
   * `signal`'s reason, or with what `keep` threw.
   */
  deliver(
    parcel: Parcel,
    destinations: readonly Destination[],
    states: readonly DeliveryState[],
    keep: (states: readonly DeliveryState[]) => Promise<void>,
    signal: AbortSignal,
  ): Promise<readonly DeliveryState[]>
}
