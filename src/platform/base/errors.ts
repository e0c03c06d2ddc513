import type { ProblemStatus } from '../../contracts/platform/problem.ts'

/** What an error may tell beyond its sentence; every member is safe to show. */
export interface PlatformErrorFacts {
  /** Ends the `type` of the problem where the status alone does not say enough: `name_conflict`, a code of the IMDS … */
  readonly slug?: string | undefined
  /** Headers of the answer, e.g. `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Member path → what is wrong with it. */
  readonly errors?: Readonly<Record<string, readonly string[]>> | undefined
}

/** An error the caller is meant to read. Anything else is a bug, or a database that is away, and becomes a 500. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError'
  readonly status: ProblemStatus
  readonly facts: PlatformErrorFacts

  constructor(status: ProblemStatus, message: string, options: PlatformErrorFacts & { readonly cause?: unknown } = {}) {
    const { cause, ...facts } = options
    super(message, { cause })
    this.status = status
    this.facts = facts
  }
}

/** `what` is the resource in the words of the wire: "container group", "queue", "job" … */
export const notFound = (what: string): PlatformError => new PlatformError(404, `The ${what} could not be found.`)

/** The sentence of anything that was thrown; of several errors in one, e.g. one for each address of a host, all of them. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ')
  return error instanceof Error ? error.message : String(error)
}
