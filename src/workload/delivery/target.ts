import type { Credentials } from '../../contracts/credentials.ts'
import { WorkloadError } from '../base/errors.ts'

/** A finished file on its way out. */
export interface OutputFile {
  /** As the client reads it: relative, with `/` between folders. */
  readonly filename: string
  readonly path: string
  readonly bytes: number
  readonly mime: string
}

/** Somewhere files can be put, with all that it takes to get there. One file each in `targets/`. */
export interface UploadTarget<Options> {
  /** The field of a request that asks for it. */
  readonly type: string
  /**
   * The way there for one request, of whose `credentials` the first that matches is used alone. Throws
   * `upload-not-configured` where the server is not set up for it and `url-not-allowed` where it must not go.
   */
  open(options: Options, credentials: Credentials): Carrier
}

/** Takes the files of one request to where they belong. */
export interface Carrier {
  /** Names where a file of that name goes: files with equal places replace each other. */
  placeOf(filename: string): string
  /** Puts the file there and resolves with its URL, which may be a secret. Throws `UploadFailure`. */
  put(file: OutputFile, signal: AbortSignal): Promise<string>
}

/** What a request is told that asks for a target which this server is not set up for. */
export const notConfigured = (type: string, reason: string): WorkloadError =>
  new WorkloadError('upload-not-configured', `${type}: ${reason}`, { location: type })

/** Why a file could not be put somewhere. Its message shows no secret and no URL. */
export class UploadFailure extends Error {
  override readonly name = 'UploadFailure'
  /** Whether it may go well another time. */
  readonly passing: boolean
  /** Milliseconds that the store asks to wait. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    options: { readonly passing: boolean; retryAfter?: number | undefined; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.passing = options.passing
    this.retryAfter = options.retryAfter
  }
}
