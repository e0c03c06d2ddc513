import type { Credentials } from '../../contracts/credentials.ts'
import { amazonEndpoint } from '../base/amazon.ts'
import { authFor } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'

/** The store and who asks; what is undefined is left to the SDK's own search. */
export interface S3Settings {
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
}

/**
 * Store and identity that a client gives for `url` (`s3://bucket/key`), used alone: without an endpoint it is Amazon's,
 * whatever this server is set up with. Undefined when it gives none. Throws what `check` throws of its endpoint.
 */
export function s3AccessFor(
  credentials: Credentials,
  url: string,
  check: (endpoint: string) => void,
): Required<S3Settings> | undefined {
  const auth = authFor(credentials, url)
  if (auth?.type !== 's3') return undefined
  const { region = 'us-east-1', endpoint } = auth
  const location = `credentials.${credentials.findIndex((entry) => entry.auth === auth)}.auth`
  if (!/^[a-z0-9-]{1,63}$/.test(region))
    throw new WorkloadError('invalid-request', 'must be the name of a region', { location: `${location}.region` })
  try {
    if (endpoint !== undefined) check(endpoint)
  } catch (error) {
    if (!(error instanceof WorkloadError)) throw error
    throw new WorkloadError(error.code, error.message, { location: `${location}.endpoint`, cause: error })
  }
  return {
    region,
    endpoint: endpoint ?? amazonEndpoint(region),
    accessKeyId: auth.access_key_id,
    secretAccessKey: auth.secret_access_key,
    sessionToken: auth.session_token,
  }
}
