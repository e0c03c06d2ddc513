import type { JobRecord } from '../../contracts/job.ts'
import type { NodeErrors } from '../../contracts/problem.ts'
import type { DeliveryState } from '../delivery/parcel.ts'
import type { Freeing, ShownFile } from '../engine/protocol.ts'
import type { Accepted } from './accept-prompt.ts'
import type { JobAnswer, JobView, Submission } from './job.ts'
import type { JobEvent } from './job-history.ts'
import type { JobWatcher } from './watchers.ts'

/** Who asks, and how to tell that they have gone. */
export interface Caller {
  readonly signal: AbortSignal
  readonly requestId: string
}

/** A prompt that was taken in. */
export interface Submitted {
  readonly id: string
  readonly number: number
  /** What is wrong with the outputs that will not run. */
  readonly nodeErrors: NodeErrors
}

export interface Jobs {
  /**
   * Runs the prompt in the body of a request and hands its files to `deliver`, with whether the answer was there
   * already. The same body under the same id joins the job that is there, or gets its answer again. When `caller.signal`
   * aborts, a job that nobody else waits for and whose id its client does not know is cancelled.
   */
  run<T>(body: unknown, caller: Caller, deliver: (answer: JobAnswer, replayed: boolean) => Promise<T>): Promise<T>
  /** Takes in a prompt that outlives this process, and resolves when it is stored. */
  accept(body: unknown, requestId: string): Promise<Accepted>
  /** Takes a prompt in and resolves when it is found valid; it goes on whether anybody waits for it or not. */
  submit(body: unknown, submission: Submission, requestId: string): Promise<Submitted>
  /** From now on tells `watcher` of all jobs but the warm-up. */
  watch(watcher: JobWatcher): void
  /** Runs a prompt before anybody is let in. */
  warmUp(body: unknown, signal: AbortSignal): Promise<void>
  /** What is known of a job. Throws `job-not-found`. */
  view(id: string): Promise<JobView>
  /** All jobs that are known, in the order in which they came. */
  list(): Promise<readonly JobRecord[]>
  /** Lends the view of a job with its files. Throws `job-not-found`. */
  read<T>(id: string, work: (view: JobView) => Promise<T>): Promise<T>
  /** Lends a file that a job has shown, by the name its client was told; undefined when there is none. */
  lendShown<T>(
    filename: string,
    retention: ShownFile['retention'],
    work: (file: ShownFile) => Promise<T>,
  ): Promise<T | undefined>
  /** Gives back memory that nobody uses now. */
  free(what: Freeing): void
  /** Stops a job that has not ended; false when it has. Throws `job-not-found`. */
  cancel(id: string): Promise<boolean>
  /** Delivers anew what could not be delivered. Throws `job-not-found` and `not-redeliverable`. */
  redeliver(id: string): Promise<void>
  /** What happens to a job from event number `after` on. Throws `job-not-found`. */
  follow(id: string, after: number, signal: AbortSignal, previews: boolean): AsyncGenerator<JobEvent>
  /** Jobs by where they are. */
  readonly counts: Readonly<Record<'pending' | 'running' | 'delivering', number>>
  /** How far the deliveries are of the jobs that this server did. */
  readonly deliveries: readonly DeliveryState[]
  /** What the engines run on, `cpu` or `cuda` each. */
  readonly devices: readonly string[]
  /** Lets prompts in. */
  open(): void
  /** Lets none in any more and resolves when all have ended, after `graceMs` by force. */
  drain(graceMs: number): Promise<void>
  /** True once the warm-up is done, while engines stay up. */
  readonly healthy: boolean
  /** Why prompts should go elsewhere at the moment; empty when there is no reason. */
  readonly reasons: readonly string[]
}
