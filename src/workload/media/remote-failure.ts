import { WorkloadError } from '../base/errors.ts'
import { PassingFailure } from './attempts.ts'

/** The failure that a status beyond 2xx means; `word` is the other side's own for it. */
export function statusFailure(status: number, word = ''): WorkloadError | PassingFailure {
  const text = `the URL answered with status ${status}${/^\w{1,80}$/.test(word) ? ` ${word}` : ''}`
  if (status === 408 || status === 429 || status >= 500) return new PassingFailure(text)
  return new WorkloadError('media-unavailable', text)
}

/** What an error of a client means: a refusal is itself, everything else is the connection's and may pass. */
export function connectionFailure(error: unknown): WorkloadError | PassingFailure {
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof WorkloadError || at instanceof PassingFailure) return at
  return new PassingFailure(`the URL could not be read: ${reasonOf(error)}`, { cause: error })
}

/** The code of the innermost error that has one: other than messages, codes repeat nothing that was sent. */
function reasonOf(error: unknown): string {
  let reason = 'the connection failed'
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') reason = at.code
    else if (at.name === 'TimeoutError') reason = 'it took too long'
  }
  return reason
}
