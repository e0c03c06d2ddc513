import type { Prompt, PromptRequest } from '../../contracts/prompt.ts'
import { problemOf } from '../base/problem.ts'
import type { DeliveryState, Destination, Parcel } from '../delivery/parcel.ts'
import type { QueueEntry } from '../queue/job-queue.ts'
import { errorOf, type LifeNote } from './life-note.ts'

/** The receivers that a request names, in the order in which they are told of. */
export function destinationsOf({ webhook, webhook_v2 }: Partial<PromptRequest>): readonly Destination[] {
  return [
    ...(webhook === undefined ? [] : [{ kind: 'webhook' as const, url: webhook }]),
    ...(webhook_v2 === undefined ? [] : [{ kind: 'webhook_v2' as const, url: webhook_v2 }]),
  ]
}

/** How far the delivery to each of `destinations` is; it has not begun where nothing is known. */
export const statesFor = (destinations: readonly Destination[], known: readonly DeliveryState[]): DeliveryState[] =>
  destinations.map(
    ({ kind }) =>
      known.find((state) => state.kind === kind) ?? { kind, status: 'pending' as const, attempts: 0, done: 0 },
  )

/** What is `known` of deliveries, uploads first, and those to `destinations` too that have not begun. */
export const withReceivers = (
  known: readonly DeliveryState[],
  destinations: readonly Destination[],
): readonly DeliveryState[] => [
  ...known.filter(({ kind }) => destinations.every((other) => other.kind !== kind)),
  ...statesFor(destinations, known),
]

/** What the receivers of a prompt are told, whose outcome is known; `prompt` as they may read it. */
export function parcelOf(
  { id, run }: QueueEntry,
  { outcome, executed, urls, revived }: LifeNote,
  prompt: Prompt,
  requestId: string,
): Parcel {
  const times = run + revived
  const about = { id, webhookId: times === 1 ? id : `${id}.${times}`, at: outcome?.at ?? 0 }
  if (outcome?.failure) {
    const problem = { ...problemOf(errorOf(outcome.failure), requestId), id }
    return { ...about, outcome: 'failed', prompt, problem }
  }
  return { ...about, outcome: 'complete', head: executed?.head ?? {}, files: executed?.files ?? [], urls }
}
