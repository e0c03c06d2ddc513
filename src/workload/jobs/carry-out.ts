import type { Log } from '../../common/log.ts'
import { type Prompt, promptRequestSchema } from '../../contracts/prompt.ts'
import type { DeliveryState, Destination, Webhooks } from '../delivery/parcel.ts'
import { type HeldEntry, HoldLost } from '../queue/job-queue.ts'
import { asEnded, readAsked } from './asked-prompt.ts'
import type { Job } from './job.ts'
import type { JobBook } from './job-book.ts'
import { areThere, type LifeNote, readNote, writeNote } from './life-note.ts'
import { destinationsOf, parcelOf, statesFor } from './parcel-of.ts'
import { Leaving, type Ledger, type RunEntryServices, runEntry } from './run-entry.ts'
import { toldPrompt } from './told-prompt.ts'

export interface CarryServices extends RunEntryServices {
  readonly book: JobBook
  readonly webhooks: Webhooks
  readonly log: Log
  /** Aborts when this server shuts down and leaves what is still to be told to whoever comes next. */
  readonly leaving: AbortSignal
  /** Called when a prompt takes one of the places before the engines, and when it frees it. */
  onPlace(change: 1 | -1): void
  /** Called when a prompt has been taken that is not yet among the jobs of this server, and when it is, or never will be. */
  onEntering(change: 1 | -1): void
}

/**
 * Does what is left to do of an asynchronous prompt: runs it, uploads its files, tells its receivers. Every step is noted
 * before the next begins, so that whoever has the entry next goes on from there.
 */
export function createCarrier(services: CarryServices): (held: HeldEntry) => Promise<void> {
  const { log, book, onPlace, onEntering } = services
  return async (held) => {
    const ledger = createLedger(held)
    const told = toldOf(held)
    let job: Job | undefined
    let release = (): void => undefined
    let placed = true
    const placeFree = (): void => {
      if (placed) onPlace(-1)
      placed = false
    }
    let entering = true
    const entered = (): void => {
      if (entering) onEntering(-1)
      entering = false
    }
    const begun = (started: Job): void => {
      entered()
      job = started
      release = book.hold(started)
    }
    onPlace(1)
    onEntering(1)
    if (held.starts > 1) log.warn({ id: held.id, times: held.starts }, 'a prompt is taken up again')
    try {
      if (await needsRun(told, ledger)) await runEntry(held, ledger, services, { begun, placeFree })
      placeFree()
      entered()
      const areLinked = await tellReceivers(held, told, ledger, services, job)
      await held.end(writeNote(ledger.life), isTold(ledger.life) ? asEnded(held, told) : undefined)
      if (!areLinked) await tidy(ledger.life, services, job)
    } catch (error) {
      if (job) book.letGo(job)
      if (error instanceof HoldLost) log.warn({ id: held.id }, 'another server goes on with a prompt')
      else {
        if (!(error instanceof Leaving)) log.error({ id: held.id, err: error }, 'a prompt is tried again')
        await held
          .giveBack()
          .catch((lost: unknown) => log.warn({ id: held.id, err: lost }, 'a prompt was not given back'))
      }
    } finally {
      entered()
      placeFree()
      release()
    }
  }
}

function createLedger(held: HeldEntry): Ledger {
  let life = readNote(held.note)
  return {
    get life() {
      return life
    },
    async write(newer) {
      life = newer
      await held.keep(writeNote(newer))
    },
  }
}

/** Who is told of a prompt, and what of the request: little beside its inputs, which only a run needs. */
interface Told {
  readonly destinations: readonly Destination[]
  readonly prompt: Prompt
  readonly requestId: string
  readonly bodyKey: string
}

function toldOf(held: HeldEntry): Told {
  const { body, requestId, bodyKey } = readAsked(held)
  const request = promptRequestSchema.parse(body)
  return { destinations: destinationsOf(request), prompt: toldPrompt(request.prompt), requestId, bodyKey }
}

/** False when the outcome is known and all that is left to tell can be told. */
async function needsRun({ destinations }: Told, { life }: Ledger): Promise<boolean> {
  const { outcome, executed, urls, delivery } = life
  if (!outcome) return true
  const isOver = statesFor(destinations, delivery).every(({ status }) => status !== 'pending')
  if (outcome.failure || urls || isOver) return false
  return !(executed && (await areThere(executed)))
}

/** Resolves with whether files must stay because a receiver was sent links, or could not be sent that much. */
async function tellReceivers(
  held: HeldEntry,
  { destinations, prompt, requestId }: Told,
  ledger: Ledger,
  { webhooks, leaving }: CarryServices,
  job: Job | undefined,
): Promise<boolean> {
  if (destinations.length === 0) return false
  const parcel = parcelOf(held, ledger.life, prompt, requestId)
  const uploads = ledger.life.delivery.filter(({ kind }) => destinations.every((other) => other.kind !== kind))
  const keep = async (states: readonly DeliveryState[]): Promise<void> => {
    const delivery = [...uploads, ...states]
    if (job) job.delivery = delivery
    await ledger.write({ ...ledger.life, delivery })
  }
  const away = new AbortController()
  const leave = () => away.abort(new Leaving('the server is shutting down'))
  // Whoever wants it stopped now comes too late: its receivers are told all the same.
  const lose = () => void (held.signal.reason instanceof HoldLost && away.abort(held.signal.reason))
  leaving.addEventListener('abort', leave)
  held.signal.addEventListener('abort', lose)
  if (leaving.aborted) leave()
  if (held.signal.aborted) lose()
  try {
    const states = statesFor(destinations, ledger.life.delivery)
    await keep(await webhooks.deliver(parcel, destinations, states, keep, away.signal))
    return webhooks.tooLarge(parcel, destinations) !== undefined
  } finally {
    leaving.removeEventListener('abort', leave)
    held.signal.removeEventListener('abort', lose)
  }
}

/** Whether nobody may want any of it delivered anew. */
const isTold = ({ delivery }: LifeNote): boolean => delivery.every(({ status }) => status === 'delivered')

/** Files go once they are where they were wanted; those that could not be delivered stay readable for a while. */
async function tidy(life: LifeNote, { spool }: CarryServices, job: Job | undefined): Promise<void> {
  const isDone = life.delivery.length > 0 && isTold(life)
  const hasFiles = (life.executed?.files.length ?? 0) > 0
  if (life.folder === undefined || !(isDone || !hasFiles)) return
  if (job) job.emptied = true
  await spool.remove(life.folder)
}
