import { type ImdsCode, type ImdsProblem, imdsCodes } from '../../contracts/platform/imds.ts'
import { problemStatus } from '../../contracts/platform/problem.ts'
import { PlatformError } from '../base/errors.ts'
import { problemOf } from '../base/problem.ts'

const MAX_REASON = 200

/** An error whose status alone does not say which code it has. */
export const imdsError = (status: 403 | 404, message: string, slug: ImdsCode): PlatformError =>
  new PlatformError(status, message, { slug })

/** Any error as the metadata service tells it; `type` and `instance` lie under `baseUrl`. */
export function imdsProblem(baseUrl: string): (error: PlatformError, requestId: string) => ImdsProblem {
  return (error, requestId) => {
    const code = codeOf(error)
    // What is wrong with the body as a whole is wrong with no property; the detail tells it.
    const { body: _whole, ...errors } = error.facts.errors ?? {}
    return {
      ...problemOf(error, baseUrl, requestId),
      type: `${baseUrl}/e/${code}`,
      code,
      errors: Object.fromEntries(
        Object.entries(errors).map(([name, reasons]) => [name, reasons.map((each) => each.slice(0, MAX_REASON))]),
      ),
    }
  }
}

/** The last segment of a `type` is the code, but for a body that is refused. */
function codeOf({ status, facts }: PlatformError): ImdsCode {
  const slug = status === 400 ? 'invalid-request' : (facts.slug ?? problemStatus[status].slug)
  return imdsCodes.find((code) => code === slug) ?? 'unknown-error'
}
