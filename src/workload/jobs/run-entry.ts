import type { PromptRequest } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { asReadable } from '../base/problem.ts'
import { type HeldEntry, HoldLost, Stopped } from '../queue/job-queue.ts'
import { openBody, readAsked } from './asked-prompt.ts'
import type { Job } from './job.ts'
import { areThere, failureOf, type LifeNote, withoutRun } from './life-note.ts'
import { destinationsOf, withReceivers } from './parcel-of.ts'
import { type BodyChecks, parseBody } from './prompt-body.ts'
import type { Seal } from './seal.ts'
import type { Spool } from './spool.ts'
import { isHandedOn, type StartJob, type StartOptions } from './start-job.ts'
import type { JobWatcher } from './watchers.ts'

export interface RunEntryServices {
  readonly checks: BodyChecks
  readonly startJob: StartJob
  readonly watcher: JobWatcher
  readonly seal: Seal
  readonly spool: Spool
  /** How often a prompt is run whose server was lost each time. */
  readonly promptAttempts: number
  now(): number
}

/** What is known of an entry, and how to make more of it last. */
export interface Ledger {
  readonly life: LifeNote
  /** Durable when it resolves. Throws `HoldLost`. */
  write(life: LifeNote): Promise<void>
}

/** This server goes on with nothing of an entry: another must, or this one another time. */
export class Leaving extends Error {
  override readonly name = 'Leaving'
}

/**
 * Brings an entry to its outcome, which is in the ledger then: runs it, or goes on where a run left its files. `begun` is
 * called with the job once there is one, and `placeFree` when an engine has no more to do with it. Throws `Leaving` and
 * `HoldLost`.
 */
export async function runEntry(
  held: HeldEntry,
  ledger: Ledger,
  { checks, startJob, watcher, seal, spool, promptAttempts, now }: RunEntryServices,
  { begun, placeFree }: { begun(job: Job): void; placeFree(): void },
): Promise<void> {
  const asked = readAsked(held)
  const receivers = destinationsOf(asked.body as Partial<PromptRequest>) // its form was checked before it was kept
  // Whoever sees the outcome sees whom it is still to be told.
  const fail = (thrown: unknown, known = ledger.life.delivery) => {
    const outcome = { at: now(), failure: failureOf(asReadable(thrown)) }
    return ledger.write({ ...ledger.life, delivery: withReceivers(known, receivers), outcome })
  }
  const { executed, runs } = ledger.life
  const former = executed && (await areThere(executed)) ? executed : undefined
  if (held.cancelled) return fail(cancelled())
  if (!former && runs >= promptAttempts) return fail(lost(runs))

  const parsed = await openBody(asked, seal)
    .then((body) => parseBody(body, checks))
    .catch((error: unknown) => asReadable(error))
  if (parsed instanceof WorkloadError) return fail(parsed)
  const folder = former ? ledger.life.folder! : await newRun(held, ledger, spool, now)
  if (folder instanceof Error) return fail(folder)
  const options: StartOptions = {
    requestId: asked.requestId,
    watcher,
    byRight: true,
    accepted: {
      ...{ id: held.id, run: held.run, created: held.created, folder, delivery: ledger.life.delivery },
      durability: {
        executed: former,
        async keep(made) {
          placeFree()
          await ledger.write({ ...ledger.life, executed: made }).catch((error: unknown) => {
            throw handedOn(error)
          })
        },
      },
    },
  }
  let job: Job
  try {
    job = startJob(parsed, options)
  } catch (error) {
    return fail(error) // a prompt of this id runs here whose client waits for it
  }
  begun(job)
  const stop = () => job.stop.abort(held.signal.reason instanceof Stopped ? cancelled() : handedOn(held.signal.reason))
  held.signal.addEventListener('abort', stop, { once: true })
  if (held.signal.aborted) stop()
  try {
    const { head, files, urls } = await job.answer
    job.delivery = withReceivers(job.delivery, receivers)
    const outcome = { at: now() }
    const made = { executed: { head, files }, ...(urls && { urls }), delivery: job.delivery, outcome }
    await ledger.write({ ...ledger.life, ...made })
  } catch (thrown) {
    const error = asReadable(thrown)
    if (thrown instanceof HoldLost || error.cause instanceof HoldLost) throw error.cause ?? thrown
    if (!isHandedOn(job, error)) {
      job.delivery = withReceivers(job.delivery, receivers)
      return await fail(error, job.delivery)
    }
    if (!former) await ledger.write({ ...ledger.life, runs }) // a run that was broken off on purpose does not count
    throw new Leaving('the server is shutting down', { cause: error })
  } finally {
    held.signal.removeEventListener('abort', stop)
  }
}

/** Notes that a run begins, before it does: if its server is lost, it counts. An error when the disk takes no folder. */
async function newRun(held: HeldEntry, ledger: Ledger, spool: Spool, now: () => number): Promise<string | Error> {
  const { life } = ledger
  const folder = spool.name()
  await ledger.write({ ...withoutRun(life), runs: life.runs + 1, folder, started: life.started ?? now() })
  if (life.folder !== undefined) await spool.remove(life.folder)
  return spool.make(folder, held.id).then(
    () => folder,
    (cause: unknown) => new WorkloadError('internal', 'there is no room for the files of the prompt', { cause }),
  )
}

const cancelled = () => new WorkloadError('cancelled', 'the prompt was cancelled')
const lost = (runs: number) =>
  new WorkloadError('execution-failed', `the servers that ran this prompt were lost, ${runs} times in a row`)
const handedOn = (cause: unknown) =>
  new WorkloadError('shutting-down', 'another server goes on with the prompt', { cause })
