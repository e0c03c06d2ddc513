import type { DeliveryRecord } from '../../contracts/job.ts'
import type { DeliveryState } from '../delivery/parcel.ts'

/** How the deliveries of a job go, as its record tells it. */
export const deliveryRecords = (states: readonly DeliveryState[]): DeliveryRecord[] =>
  states.map(({ kind, status, attempts, nextAttempt, lastError }) => ({
    kind,
    status,
    attempts,
    ...(nextAttempt !== undefined &&
      status === 'pending' && { next_attempt_time: new Date(nextAttempt).toISOString() }),
    ...(lastError !== undefined && { last_error: lastError }),
  }))
