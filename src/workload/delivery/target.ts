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
  /** Why it cannot be used as the server is set up, in words for a client; undefined when it can. */
  readonly missing: string | undefined
  /** Where a file of that name will be. */
  urlOf(filename: string, options: Options): string
  /** Puts the file there. Throws `UploadFailure`. */
  upload(file: OutputFile, options: Options, signal: AbortSignal): Promise<void>
}

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

/** Whether an answer with this status may be another one later. */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500
