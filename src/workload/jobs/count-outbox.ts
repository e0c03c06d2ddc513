import type { OutboxCount } from '../base/metrics.ts'
import type { DeliveryState } from '../delivery/parcel.ts'

/** How many deliveries of each kind are still to be made, or were given up. */
export function countOutbox(states: readonly DeliveryState[]): readonly OutboxCount[] {
  const counts = new Map<string, OutboxCount>()
  for (const { kind, status } of states) {
    if (status === 'delivered') continue
    const outcome = status === 'failed' ? 'dead' : 'pending'
    const key = `${kind} ${outcome}`
    counts.set(key, { kind, outcome, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
