import type { WatchedJob } from '../../jobs/watchers.ts'
import type { Clients } from './clients.ts'

/** Says of every prompt under way whether the client that sent it looks. */
export interface Attendance {
  begin(job: WatchedJob): void
  looks(job: WatchedJob): boolean
  end(job: WatchedJob): void
}

/** The values of `preview_method` beside `none`; here all mean the same. */
const METHODS: readonly unknown[] = ['auto', 'latent2rgb', 'taesd']

/**
 * Clients look while they are connected, if they sent a `preview_method` with the prompt or have said that they know
 * previews. Others take every binary message for a finished picture, because upstream sends no previews by default.
 */
export function createAttendance(clients: Pick<Clients, 'has' | 'knowsPreviews' | 'onPresence'>): Attendance {
  /** What gives back the seat of each prompt's client, which is there or not. */
  const seats = new Map<WatchedJob, (() => void) | undefined>()
  const wants = ({ submission, request }: WatchedJob): boolean => {
    const method = request.extra_data?.preview_method
    if (method === 'none') return false
    return METHODS.includes(method) ? clients.has(submission?.clientId) : clients.knowsPreviews(submission?.clientId)
  }
  const look = (job: WatchedJob): void => {
    const leave = seats.get(job)
    if (wants(job)) seats.set(job, leave ?? job.history.audience.join())
    else {
      leave?.()
      seats.set(job, undefined)
    }
  }
  clients.onPresence((id) => {
    for (const job of seats.keys()) if (job.submission?.clientId === id) look(job)
  })
  return {
    begin: look,
    looks: (job) => seats.get(job) !== undefined,
    end(job) {
      seats.get(job)?.()
      seats.delete(job)
    },
  }
}
