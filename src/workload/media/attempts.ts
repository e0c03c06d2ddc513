import { setTimeout as pause } from 'node:timers/promises'
import { WorkloadError } from '../base/errors.ts'

const ATTEMPTS = 5
const LONGEST_PAUSE_MS = 30_000

/** Something that may be gone in a moment: a broken connection, a busy server. */
export class PassingFailure extends Error {
  override readonly name = 'PassingFailure'
  /** How long the other side asks to wait. */
  readonly afterMs: number | undefined

  constructor(message: string, options: { readonly cause?: unknown; readonly afterMs?: number | undefined } = {}) {
    super(message, { cause: options.cause })
    this.afterMs = options.afterMs
  }
}

export interface AttemptOptions {
  readonly signal: AbortSignal
  /** Pauses double from this one on. */
  readonly firstPauseMs: number
  /** Asked after each failure whether so much was gained that counting begins anew. */
  advanced?(): boolean
}

/** `work`, tried again after passing failures. When no attempt is left: `download-failed`. */
export async function withAttempts<T>(
  work: () => Promise<T>,
  { signal, firstPauseMs, advanced = () => false }: AttemptOptions,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof PassingFailure)) throw error
      if (advanced()) failures = 1
      if (failures === ATTEMPTS) throw new WorkloadError('download-failed', error.message, { cause: error })
      const wait = error.afterMs ?? firstPauseMs * 2 ** (failures - 1)
      await pause(Math.min(wait, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}
