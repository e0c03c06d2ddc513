import type { Credentials } from '../../contracts/credentials.ts'
import type { AzureUpload, HttpUpload, S3Upload, StorageUpload } from '../../contracts/upload.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { type OnAttempt, type Patience, withAttempts } from './attempts.ts'
import { createTurns, type InTurn } from './in-turn.ts'
import type { Carrier, OutputFile, UploadTarget } from './target.ts'

/** Files on their way at a time. */
const AT_ONCE = 4

/** Where a request wants its files, if anywhere but in the answer, and who asks there. */
export interface UploadRequest {
  readonly credentials?: Credentials | undefined
  readonly s3?: S3Upload | undefined
  readonly azure_blob_upload?: AzureUpload | undefined
  readonly http_upload?: HttpUpload | undefined
  readonly storage?: StorageUpload | undefined
}

export interface UploadTargets {
  readonly s3: UploadTarget<S3Upload>
  readonly azure: UploadTarget<AzureUpload>
  readonly http: UploadTarget<HttpUpload>
  readonly storage: UploadTarget<StorageUpload>
}

/** Puts all files of a job somewhere. */
export interface Upload {
  /** The field of the request that asked for it. */
  readonly type: string
  /** Whether its client is answered before it is done. */
  readonly async: boolean
  /**
   * Resolves with the files' URLs, in their order; they may be secrets. Throws `upload-failed` once a file has failed for
   * good; the others are given up then. The files stay where they are.
   */
  run(files: readonly OutputFile[], signal: AbortSignal, onAttempt?: OnAttempt): Promise<readonly string[]>
}

/** Every way to upload. */
export interface Uploads {
  /** The upload that `request` asks for: the first of those it names. Throws `upload-not-configured` or `url-not-allowed`. */
  plan(request: UploadRequest): Upload | undefined
}

/** Who is told of every attempt and of every file that has arrived. Times are in seconds. */
export interface UploadWatcher {
  attempted(target: string, outcome: 'ok' | 'failed'): void
  uploaded(file: {
    readonly url: string
    readonly name: string
    readonly bytes: number
    readonly seconds: number
  }): void
  /** Milliseconds. */
  now(): number
}

export function createUploads(targets: UploadTargets, patience: Patience, watcher?: UploadWatcher): Uploads {
  const inTurn = createTurns()
  const planned = <Options extends { readonly async: boolean }>(
    target: UploadTarget<Options>,
    options: Options,
    credentials: Credentials = [],
  ): Upload => {
    const { type } = target
    const carrier = target.open(options, credentials)
    const run: Upload['run'] = (files, signal, onAttempt = () => undefined) =>
      carryAll(files, { type, carrier, inTurn, patience, onAttempt, watcher }, signal)
    return { type, async: options.async, run }
  }
  return {
    plan({ credentials, s3, azure_blob_upload, http_upload, storage }) {
      if (s3) return planned(targets.s3, s3, credentials)
      if (azure_blob_upload) return planned(targets.azure, azure_blob_upload, credentials)
      if (http_upload) return planned(targets.http, http_upload, credentials)
      return storage && planned(targets.storage, storage, credentials)
    },
  }
}

interface Way {
  readonly type: string
  readonly carrier: Carrier
  readonly inTurn: InTurn
  readonly patience: Patience
  readonly onAttempt: OnAttempt
  readonly watcher: UploadWatcher | undefined
}

async function carryAll(files: readonly OutputFile[], way: Way, signal: AbortSignal): Promise<readonly string[]> {
  const urls: string[] = []
  const waiting = [...files.entries()]
  const failed = new AbortController()
  const ended = AbortSignal.any([signal, failed.signal])
  const carry = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !ended.aborted; next = waiting.shift()) {
      const [i, file] = next
      urls[i] = await carryOne(file, way, ended)
    }
  }
  const lanes = Array.from({ length: AT_ONCE }, () => carry().catch((error: unknown) => failed.abort(error)))
  await Promise.all(lanes)
  ended.throwIfAborted()
  return urls
}

async function carryOne(file: OutputFile, way: Way, signal: AbortSignal): Promise<string> {
  const { type, carrier, inTurn, patience, onAttempt, watcher } = way
  const { filename, bytes } = file
  const told: OnAttempt = (outcome, error) => {
    watcher?.attempted(type, outcome)
    onAttempt(outcome, error === undefined ? undefined : `${filename}: ${error}`)
  }
  const put = async (ended: AbortSignal): Promise<string> => {
    const began = watcher?.now() ?? 0
    const url = await carrier.put(file, ended)
    watcher?.uploaded({ url, name: filename, bytes, seconds: (watcher.now() - began) / 1000 })
    return url
  }
  try {
    return await inTurn(`${type} ${carrier.placeOf(filename)}`, signal, () => withAttempts(put, patience, signal, told))
  } catch (cause) {
    signal.throwIfAborted()
    throw new WorkloadError('upload-failed', `${type}: ${filename}: ${messageOf(cause)}`, { location: type, cause })
  }
}
