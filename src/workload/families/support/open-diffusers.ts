import { WorkloadError } from '../../base/errors.ts'

/** Stands here until it is built. */
export function openDiffusersFolder(..._given: readonly unknown[]): never {
  throw new WorkloadError('execution-failed', 'not built')
}
