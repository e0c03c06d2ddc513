import { WorkloadError } from '../base/errors.ts'
import { UploadFailure } from './target.ts'

/** What stores say beside a status, if it is one of their code words. */
const codeWord = /^[\w.-]{1,80}$/

/** The failure that an answer with a status beyond 2xx means; `code` is the store's own word for it. */
export function failureOfStatus(
  status: number,
  {
    code,
    retryAfter,
    cause,
  }: { readonly code?: unknown; retryAfter?: string | null | undefined; cause?: unknown } = {},
): UploadFailure {
  const word = typeof code === 'string' && codeWord.test(code) ? ` ${code}` : ''
  return new UploadFailure(`the store answered ${status}${word}`, {
    passing: status === 408 || status === 429 || status >= 500,
    retryAfter: secondsOf(retryAfter ?? ''),
    cause,
  })
}

/** `Retry-After` in milliseconds where it counts seconds; its other form is a date, which clocks may disagree on. */
const secondsOf = (header: string): number | undefined => (/^\d{1,9}$/.test(header) ? Number(header) * 1000 : undefined)

/** The failure that an error before any answer means: one of the address rules is for good, others may pass. */
export function failureToReach(error: unknown): UploadFailure {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof UploadFailure) return at
    if (at instanceof WorkloadError) return new UploadFailure(at.message, { passing: false, cause: error })
  }
  return new UploadFailure(`the store could not be reached: ${reasonOf(error)}`, { passing: true, cause: error })
}

/** The code of the innermost error that has one, else a name: unlike messages, neither repeats what was sent. */
function reasonOf(error: unknown): string {
  let reason = 'no answer'
  for (let at = error, code = ''; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') code = at.code
    reason = code || at.name
  }
  return reason
}
