import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Upload } from '../../../contracts/upload.ts'
import { WorkloadError } from '../../base/errors.ts'
import { isListed } from '../../base/name-list.ts'
import { once } from '../../base/once.ts'
import { type S3Settings, s3AccessFor } from '../s3-access.ts'
import { sendFile } from '../send-file.ts'
import { failureOfStatus, failureToReach } from '../store-answer.ts'
import { notConfigured, type OutputFile, type UploadFailure, type UploadTarget } from '../target.ts'

/** Larger files go in parts of this size. */
const PART_BYTES = 8 * 2 ** 20

/** What the SDK connects with to a store that a client names. */
export interface GuardedAgents {
  /** Throws `url-not-allowed` for an endpoint that the address rules refuse as it stands. */
  check(endpoint: string): void
  readonly httpAgent: HttpAgent
  readonly httpsAgent: HttpsAgent
}

/**
 * Objects in a bucket of any S3-compatible store, with path-style addresses. With its own identity this server goes to
 * `ownBuckets` only (`*` stands for anything, none for all); a client's credentials are used without any of that.
 */
export function s3Target(
  own: S3Settings,
  ownBuckets: readonly string[],
  { check, httpAgent, httpsAgent }: GuardedAgents,
): UploadTarget<S3Upload> {
  const ownStore = storeOf(own)
  return {
    type: 's3',
    open({ bucket, prefix }, credentials) {
      const urlOf = (filename: string) => `s3://${bucket}/${prefix}${filename}`
      // One identity for all files of a request: that of a picture right under the prefix.
      const access = s3AccessFor(credentials, urlOf('image.png'), check)
      if (!access && own.region === undefined) throw notConfigured('s3', 'this server has no AWS_REGION')
      if (!access && ownBuckets.length > 0 && !isListed(ownBuckets, bucket))
        throw new WorkloadError('url-not-allowed', 's3: this server uploads to other buckets only', {
          location: 's3.bucket',
        })
      const store = access ? storeOf(access, { requestHandler: { httpAgent, httpsAgent } }) : ownStore
      const { endpoint = '' } = access ?? own
      return {
        placeOf: (filename) => `${endpoint} ${urlOf(filename)}`,
        async put(file, signal) {
          await store(file, bucket, prefix + file.filename, signal)
          return urlOf(file.filename)
        },
      }
    },
  }
}

type ClientOptions = ConstructorParameters<typeof S3Client>[0]

/** Puts files into one store. */
function storeOf(settings: S3Settings, options: ClientOptions = {}) {
  const load = once(async () => {
    const [{ S3Client }, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
    return { client: new S3Client({ ...clientOptions(settings), ...options }), Upload }
  })
  return async ({ path, mime }: OutputFile, bucket: string, key: string, signal: AbortSignal): Promise<void> => {
    const { client, Upload } = await load()
    await sendFile(path, async (pieces) => {
      signal.throwIfAborted()
      const params = { Bucket: bucket, Key: key, Body: pieces, ContentType: mime }
      const upload = new Upload({ client, params, partSize: PART_BYTES })
      const stop = () => void upload.abort()
      signal.addEventListener('abort', stop, { once: true })
      try {
        await upload.done()
      } catch (error) {
        throw failureOf(error)
      } finally {
        signal.removeEventListener('abort', stop)
      }
    })
  }
}

function clientOptions({ region, endpoint, accessKeyId, secretAccessKey, sessionToken }: S3Settings) {
  return {
    region: region!, // without one `open` says so and nothing is uploaded
    ...(endpoint !== undefined && {
      endpoint,
      // Stores other than Amazon's often do not understand checksums behind a stream.
      requestChecksumCalculation: 'WHEN_REQUIRED' as const,
      responseChecksumValidation: 'WHEN_REQUIRED' as const,
    }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && {
        credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
      }),
    forcePathStyle: true,
    maxAttempts: 1, // attempts are counted above
  } satisfies ClientOptions
}

/**
 * The SDK's errors carry the store's status and word for it, and what a store says of a signature it does not like, which
 * names the key: so they are no cause of ours. None has a status when nothing answered.
 */
function failureOf(error: unknown): UploadFailure {
  const { name, $metadata, $response } = error as {
    readonly name?: string
    readonly $metadata?: { readonly httpStatusCode?: number }
    readonly $response?: { readonly headers?: Readonly<Record<string, string>> }
  }
  const status = $metadata?.httpStatusCode
  if (status === undefined) return failureToReach(error)
  const cause = new Error(`${name} from the store`)
  return failureOfStatus(status, { code: name, retryAfter: $response?.headers?.['retry-after'], cause })
}
