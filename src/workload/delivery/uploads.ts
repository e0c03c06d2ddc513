import type { HttpUpload, S3Upload } from '../../contracts/upload.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { type Patience, withAttempts } from './attempts.ts'
import type { OutputFile, UploadTarget } from './target.ts'

/** Files on their way at a time. */
const AT_ONCE = 4

/** Where a request wants its files, if anywhere but in the answer. */
export interface UploadRequest {
  readonly s3?: S3Upload | undefined
  readonly http_upload?: HttpUpload | undefined
}

/** Puts all files of a job somewhere. */
export interface Upload {
  /** The field of the request that asked for it. */
  readonly type: string
  /** Resolves with the files' URLs, in their order. Throws `upload-failed` once a file has failed for good. */
  run(files: readonly OutputFile[], signal: AbortSignal): Promise<readonly string[]>
}

/** Every way to upload. */
export interface Uploads {
  /** The upload that `request` asks for: the first of those it names. Throws `upload-not-configured`. */
  plan(request: UploadRequest): Upload | undefined
}

export function createUploads(
  targets: { readonly s3: UploadTarget<S3Upload>; readonly http: UploadTarget<HttpUpload> },
  patience: Patience,
): Uploads {
  return {
    plan: ({ s3, http_upload }) =>
      (s3 && planned(targets.s3, s3, patience)) ?? (http_upload && planned(targets.http, http_upload, patience)),
  }
}

function planned<Options extends { readonly async: boolean }>(
  target: UploadTarget<Options>,
  options: Options,
  patience: Patience,
): Upload {
  const { type, missing } = target
  if (missing !== undefined) throw new WorkloadError('upload-not-configured', `${type}: ${missing}`, { location: type })
  if (options.async)
    throw new WorkloadError(
      'upload-not-configured',
      `${type}: this server answers when the upload is done; set async to false`,
      {
        location: `${type}.async`,
      },
    )
  return {
    type,
    async run(files, signal) {
      const urls = files.map(({ filename }) => target.urlOf(filename, options))
      const waiting = [...files]
      const carry = async (): Promise<void> => {
        for (let file = waiting.shift(); file; file = waiting.shift()) {
          const { filename } = file
          const upload = (ended: AbortSignal) => target.upload(file as OutputFile, options, ended)
          await withAttempts(upload, patience, signal).catch((cause: unknown) => {
            signal.throwIfAborted()
            waiting.length = 0
            throw new WorkloadError('upload-failed', `${type}: ${filename}: ${messageOf(cause)}`, {
              location: type,
              cause,
            })
          })
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, carry))
      return urls
    },
  }
}
