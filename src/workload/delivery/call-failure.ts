import { messageOf, WorkloadError } from '../base/errors.ts'

/** Why a receiver does not have a call. Its message shows no secret and no URL. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  /** Whether it would be no use to try again. */
  readonly final: boolean
  /** The status of an answer, if there was one. */
  readonly status: number | undefined
  /** Milliseconds that the receiver asks to wait. */
  readonly retryAfter: number | undefined

  constructor(
    message: string,
    options: { readonly final?: boolean; status?: number; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.final = options.final ?? false
    this.status = options.status
    this.retryAfter = options.retryAfter
  }
}

/** What the codes of Node and undici mean to somebody who looks for the fault. */
const meanings: readonly (readonly [code: RegExp, meaning: string])[] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'the receiver closed the connection'],
  [/^(ENOTFOUND|EAI_\w+)$/, "the receiver's name was not found"],
  [/^(CERT_|ERR_TLS_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_SSL_|EPROTO)/, 'no secure connection'],
  [/^(ENOENT|EACCES|EIO|EMFILE|ENFILE)$/, 'a file of the result could not be read'],
]

/** Anything that ended a call, in a sentence for the record of the job and the log. */
export function asCallFailure(thrown: unknown): CallFailure {
  if (thrown instanceof CallFailure) return thrown
  if (thrown instanceof WorkloadError) return new CallFailure(thrown.message, { cause: thrown })
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : messageOf(thrown)
  const [, meaning] = meanings.find(([pattern]) => pattern.test(code)) ?? [undefined, 'the receiver was not reached']
  return new CallFailure(`${meaning}: ${code}`, { cause: thrown })
}
