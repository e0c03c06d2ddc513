import { stat } from 'node:fs/promises'
import { parseExact, stringifyExact } from '../../common/json.ts'
import type { ProblemCode } from '../../contracts/problem.ts'
import { type ErrorFacts, WorkloadError } from '../base/errors.ts'
import type { DeliveryState } from '../delivery/parcel.ts'
import type { ExecutedPrompt } from './job.ts'

/** How far an asynchronous prompt is: all that a server needs to go on where another has stopped. */
export interface LifeNote {
  /** How often an engine was asked to run it. */
  readonly runs: number
  /** How often its delivery was begun anew after it had failed for good. */
  readonly revived: number
  /** The folder of the newest run, on the disk of the server that made it. */
  readonly folder?: string
  /** When the first run began, in epoch milliseconds. */
  readonly started?: number
  readonly executed?: ExecutedPrompt
  /** Where the files were uploaded to. */
  readonly urls?: readonly string[]
  /** What it came to, and when; from then on receivers are told. */
  readonly outcome?: { readonly at: number; readonly failure?: Failure }
  /** Uploads first, then webhooks. */
  readonly delivery: readonly DeliveryState[]
}

interface Failure {
  readonly code: ProblemCode
  readonly message: string
  readonly facts: ErrorFacts
}

export const freshLife: LifeNote = Object.freeze({ runs: 0, revived: 0, delivery: [] })

/** Only this file writes notes, so what it reads has their form. */
export const readNote = (note: string | undefined): LifeNote =>
  note === undefined ? freshLife : (parseExact(note) as LifeNote)

export const writeNote = (note: LifeNote): string => stringifyExact(note)

export const failureOf = ({ code, message, facts }: WorkloadError): Failure => ({ code, message, facts })

export const errorOf = ({ code, message, facts }: Failure): WorkloadError => new WorkloadError(code, message, facts)

/** Whether every file of a run lies on this machine, whole. */
export async function areThere({ files }: ExecutedPrompt): Promise<boolean> {
  const whole = files.map(({ path, bytes }) => stat(path).then(({ size }) => size === bytes))
  return Promise.all(whole).then(
    (each) => each.every(Boolean),
    () => false,
  )
}

/** The note without what a run has made. */
export function withoutRun({ executed: _executed, urls: _urls, outcome: _outcome, ...rest }: LifeNote): LifeNote {
  return rest
}
