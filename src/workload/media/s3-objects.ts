import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Readable } from 'node:stream'
import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import type { Auth } from '../../contracts/credentials.ts'
import { amazonEndpoint } from '../base/amazon.ts'
import { WorkloadError } from '../base/errors.ts'
import { isListed } from '../base/name-list.ts'
import { once } from '../base/once.ts'
import { connectionFailure, statusFailure } from './remote-failure.ts'
import { s3Address } from './s3-address.ts'

const CONNECT_MS = 10_000
/** Time between two pieces of an answer, and to its first. */
const SILENCE_MS = 30_000

/** The server's own store and identity; keys that are undefined are left to the SDK's own search. */
export interface S3Own {
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
}

export interface S3Deps {
  readonly own: S3Own
  /** Buckets that the server's own identity reads for anybody; `*` stands for anything. */
  readonly allowedBuckets: readonly string[]
  /** Refuses a URL that clients may not lead the server to, before its name is looked up. */
  readonly check: (url: string) => void
  /** Make the connections to endpoints that clients name. */
  readonly agents: { readonly httpAgent: HttpAgent; readonly httpsAgent: HttpsAgent }
}

/** Objects of S3-compatible stores, by `s3://<bucket>/<key>`. */
export interface S3Objects {
  /** Throws `url-not-allowed` for what `open` would refuse, without asking the store. */
  check(url: string, auth: Auth | undefined): void
  /**
   * Begins to read an object: with `auth` of the type s3, or without any with the server's own identity, which only the
   * allowed buckets are read with. Throws `url-not-allowed`,
   * `media-unavailable` where the store refuses and `PassingFailure` where it fails, also while the body is read.
   */
  open(url: string, auth: Auth | undefined, signal: AbortSignal): Promise<S3Object>
}

export interface S3Object {
  /** To be read once; leaving it early ends the connection. */
  readonly body: AsyncIterable<Uint8Array>
  readonly bytes: number | undefined
  readonly etag: string | undefined
  /** Ends the connection when the body is not read at all. */
  close(): void
}

export function createS3Objects({ own, allowedBuckets, check, agents }: S3Deps): S3Objects {
  const sdk = once(() => import('@aws-sdk/client-s3'))
  const ownClient = once(async () => new (await sdk()).S3Client(ownOptions(own)))
  const checked = (url: string, auth: Auth | undefined) => {
    const address = s3Address(url)
    if (auth?.type === 's3') {
      if (auth.endpoint !== undefined) check(auth.endpoint)
      if (auth.region !== undefined && !/^[a-z0-9-]{1,63}$/i.test(auth.region)) throw refusal('the region is not valid')
    } else if (auth) throw refusal('an S3 URL takes credentials of the type s3')
    else if (!isListed(allowedBuckets, address.bucket))
      throw refusal('the bucket is not in S3_ALLOWED_BUCKETS; send credentials of the type s3')
    return address
  }
  const clientFor = async (auth: Auth | undefined): Promise<S3Client> => {
    if (auth?.type !== 's3') return ownClient()
    return new (await sdk()).S3Client({ ...askerOptions(auth), requestHandler: { ...timeouts, ...agents } })
  }
  return {
    check: (url, auth) => void checked(url, auth),
    async open(url, auth, signal) {
      const { bucket, key } = checked(url, auth)
      const client = await clientFor(auth)
      try {
        const { GetObjectCommand } = await sdk()
        const command = new GetObjectCommand({ Bucket: bucket, Key: key })
        const { Body, ContentLength, ETag } = await client.send(command, { abortSignal: signal })
        const body = Body as Readable & typeof Body // of the SDK's three kinds of body, Node has this one
        body.once('error', () => undefined) // what nobody reads may fail
        return { body: read(body, signal), bytes: ContentLength, etag: ETag, close: () => void body.destroy() }
      } catch (error) {
        signal.throwIfAborted()
        throw failureOf(error)
      }
    },
  }
}

/** The body, with errors that repeat nothing of what was sent. */
async function* read(body: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const stop = () => void body.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const piece of body) yield piece
  } catch (error) {
    signal.throwIfAborted()
    throw failureOf(error)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const refusal = (text: string) => new WorkloadError('url-not-allowed', text)

const timeouts = { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS }

const common = {
  forcePathStyle: true,
  maxAttempts: 1, // attempts are counted by who asks
  // Stores other than Amazon's often have no checksums to compare with.
  responseChecksumValidation: 'WHEN_REQUIRED',
  requestHandler: timeouts,
} as const satisfies S3ClientConfig

function ownOptions({ region, endpoint, accessKeyId, secretAccessKey, sessionToken }: S3Own): S3ClientConfig {
  return {
    ...common,
    region: region ?? 'us-east-1',
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
  }
}

/** The asker's identity, used alone: without an endpoint the store is Amazon's, whatever this server is set up with. */
function askerOptions(auth: Auth & { readonly type: 's3' }): S3ClientConfig {
  const { access_key_id, secret_access_key, session_token, region = 'us-east-1', endpoint } = auth
  return ownOptions({
    region,
    endpoint: endpoint ?? amazonEndpoint(region),
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    sessionToken: session_token,
  })
}

/**
 * The SDK's errors carry the store's status and word for it; none has a status when nothing answered. One with a status is
 * not kept as the cause: it repeats the store's answer, and there the name of the key that was shown.
 */
function failureOf(error: unknown): Error {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status !== undefined) return statusFailure(status, name)
  if (name === 'CredentialsProviderError')
    return new WorkloadError('media-unavailable', 'this server has no identity for S3', { cause: error })
  return connectionFailure(error)
}
