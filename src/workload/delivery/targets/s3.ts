import { createReadStream } from 'node:fs'
import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Upload } from '../../../contracts/upload.ts'
import { once } from '../../base/once.ts'
import { isPassing, UploadFailure, type UploadTarget } from '../target.ts'

/** Larger files go in parts of this size. */
const PART_BYTES = 8 * 2 ** 20

/** The store and who asks; what is undefined is left to the SDK's own search. */
export interface S3Settings {
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
}

/** Objects in a bucket of any S3-compatible store, with path-style addresses. */
export function s3Target(settings: S3Settings): UploadTarget<S3Upload> {
  const open = once(async () => {
    const [{ S3Client }, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')])
    return { client: new S3Client(clientOptions(settings)), Upload }
  })
  return {
    type: 's3',
    missing: settings.region === undefined ? 'this server has no AWS_REGION' : undefined,
    urlOf: (filename, { bucket, prefix }) => `s3://${bucket}/${prefix}${filename}`,
    async upload({ path, filename, mime }, { bucket, prefix }, signal) {
      const { client, Upload } = await open()
      const params = { Bucket: bucket, Key: prefix + filename, Body: createReadStream(path), ContentType: mime }
      const upload = new Upload({ client, params, partSize: PART_BYTES })
      const stop = () => void upload.abort()
      signal.addEventListener('abort', stop, { once: true })
      try {
        signal.throwIfAborted()
        await upload.done()
      } catch (error) {
        throw failureOf(error)
      } finally {
        signal.removeEventListener('abort', stop)
        params.Body.destroy()
      }
    },
  }
}

function clientOptions({ region, endpoint, accessKeyId, secretAccessKey, sessionToken }: S3Settings) {
  return {
    region: region!, // without one `missing` says so and nothing is uploaded
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
  } satisfies ConstructorParameters<typeof S3Client>[0]
}

/** The SDK's errors carry the store's status and word for it; none has a status when nothing answered. */
function failureOf(error: unknown): UploadFailure {
  const { name = 'Error', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  const text = status === undefined ? `the store could not be reached: ${name}` : `the store answered ${status} ${name}`
  return new UploadFailure(text, { passing: status === undefined || isPassing(status), cause: error })
}
