import type { JobRecord } from '../../contracts/job.ts'
import { WorkloadError } from '../base/errors.ts'
import type { HeldEntry } from '../queue/job-queue.ts'
import { type Acceptance, type AcceptServices, createAcceptance } from './accept-prompt.ts'
import type { Admission } from './admission.ts'
import { type CarryServices, createCarrier } from './carry-out.ts'
import { recordOfEntry, viewOf } from './entry-view.ts'
import type { JobView } from './job.ts'
import { type LifeNote, readNote, writeNote } from './life-note.ts'

/** Ended prompts that are listed at most. */
const LISTED = 1000
/** How long calls that are under way may take when the server shuts down. */
const LINGER_MS = 3000
/** How often it is looked whether prompts can be taken, and whether folders are left over. */
const LOOK_MS = 1000
const SWEEP_MS = 15_000

export interface DurableServices extends AcceptServices, Omit<CarryServices, 'leaving' | 'onPlace' | 'onEntering'> {
  /** Whether an engine could run a prompt. */
  isReady(): boolean
  /** Prompts that are taken from the queue before the first of them has been executed. */
  readonly places: number
  readonly jobRetentionMs: number
}

/** Prompts that outlive this process: what other servers took in is among them, when the queue is shared. */
export interface DurableJobs extends Pick<Acceptance, 'accept'> {
  /** Prompts that wait, as far as this server knows. */
  readonly waiting: number
  /** Prompts that have an outcome of which not all receivers know yet. */
  readonly delivering: number
  view(id: string): Promise<JobView | undefined>
  records(): Promise<readonly JobRecord[]>
  /** False when there is none of that id that has not ended. */
  cancel(id: string): Promise<boolean>
  /** Begins a delivery anew that has failed for good. Throws `not-redeliverable`; false when there is no such job. */
  redeliver(id: string): Promise<boolean>
  /** Begins to take prompts. */
  open(): void
  /** Takes none any more; resolves when all that is held was ended or given back. */
  rest(): Promise<void>
}

export function createDurableJobs(services: DurableServices, admission: Admission): DurableJobs {
  const { queue, book, spool, places, isReady, jobRetentionMs } = services
  const acceptance = createAcceptance(services, admission)
  const leaving = new AbortController()
  let [taken, held, entering] = [0, 0, 0]
  const carry = createCarrier({
    ...services,
    leaving: leaving.signal,
    onEntering(change) {
      entering += change
    },
    onPlace(change) {
      taken += change
      queue.roomChanged()
    },
  })
  const timers: NodeJS.Timeout[] = []
  let sweeping = Promise.resolve()
  const sweep = (): void => {
    const isInUse = (folder: string) => book.jobs.some((job) => job.folder === folder)
    sweeping = sweeping
      .then(() => spool.sweep(queue, isInUse, jobRetentionMs))
      .catch((error: unknown) => services.log.warn({ err: error }, 'the spool was not swept'))
  }

  return {
    accept: acceptance.accept,
    get waiting() {
      return queue.waiting + acceptance.arriving + entering
    },
    get delivering() {
      return held - taken
    },
    async view(id) {
      const entry = await queue.find(id)
      return entry && viewOf(entry)
    },
    records: async () => (await queue.list(LISTED)).map((entry) => recordOfEntry(entry)),
    cancel: (id) => queue.cancel(id),
    async redeliver(id) {
      const entry = await queue.find(id)
      if (!entry) return false
      const life = entry.stage === 'ended' ? renewed(readNote(entry.note)) : undefined
      if (!life) throw new WorkloadError('not-redeliverable', `no delivery of the job ${id} has failed for good`)
      const job = book.find(id)
      if (job) book.letGo(job) // its files stay for the next that takes the entry
      return queue.revive(id, writeNote(life))
    },
    open() {
      const handle = async (entry: HeldEntry): Promise<void> => {
        held++
        await carry(entry).finally(() => held--)
      }
      queue.work(handle, () => admission.stage === 'open' && taken < places && isReady())
      timers.push(setInterval(queue.roomChanged, LOOK_MS).unref(), setInterval(sweep, SWEEP_MS).unref())
      sweep()
    },
    async rest() {
      for (const timer of timers) clearInterval(timer)
      const linger = setTimeout(() => leaving.abort(), LINGER_MS)
      await Promise.all([queue.rest(), sweeping])
      clearTimeout(linger)
    },
  }
}

/** The note from which what failed is tried again; undefined when nothing has failed for good. */
function renewed(life: LifeNote): LifeNote | undefined {
  const { delivery, outcome, revived } = life
  if (!delivery.some(({ status }) => status === 'failed')) return undefined
  if (outcome?.failure?.code === 'upload-failed') {
    // Its receivers were told that it failed, and will hear anew, under another webhook id.
    const { outcome: _outcome, ...rest } = life
    return { ...rest, revived: revived + 1, delivery: [] }
  }
  return {
    ...life,
    delivery: delivery.map((state) =>
      state.status === 'failed' ? { kind: state.kind, status: 'pending', attempts: 0, done: state.done } : state,
    ),
  }
}
