import { WorkloadError } from '../base/errors.ts'

/** More faults than this help nobody and would make the answer as large as the request. */
const MAX_FAULTS = 1000

/** Collects what several checks of one request find, so that one answer tells all of it. */
export interface Faults {
  add(error: WorkloadError): void
  /** The result of `check`, or undefined when it found a fault of the request, which is kept. */
  of<T>(check: () => T | Promise<T>): Promise<T | undefined>
  /** What was found, if anything: the first error's code and sentence, with the faults of all. */
  merged(): WorkloadError | undefined
}

export function createFaults(): Faults {
  const found: WorkloadError[] = []
  return {
    add: (error) => void found.push(error),
    async of(check) {
      try {
        return await check()
      } catch (error) {
        if (!(error instanceof WorkloadError)) throw error
        found.push(error)
        return undefined
      }
    },
    merged() {
      const [first, ...others] = found
      if (others.length === 0) return first
      // Without a prototype, for a location comes from the client; what was found first at a place stays.
      const errors = Object.assign(Object.create(null), ...found.toReversed().map(({ facts }) => facts.errors))
      const nodeErrors = found.find(({ facts }) => facts.nodeErrors)?.facts.nodeErrors
      return new WorkloadError(first!.code, first!.message, { ...first!.facts, errors, nodeErrors, cause: first })
    },
  }
}

/** What a schema found wrong with the body of a request. */
export function requestFault(issues: readonly { readonly path: PropertyKey[]; readonly message: string }[]) {
  const errors: Record<string, string[]> = Object.create(null)
  for (const { path, message } of issues.slice(0, MAX_FAULTS)) {
    const location = path.map(String).join('.') || 'body'
    errors[location] = [...(errors[location] ?? []), message]
  }
  const [[location, [first]]] = Object.entries(errors) as [[string, [string]]]
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new WorkloadError('invalid-request', `${location}: ${first}${more}`, { location, errors })
}
