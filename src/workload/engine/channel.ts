import { throttled } from '../base/throttle.ts'
import type { FromEngine } from './protocol.ts'
import type { FromSpeech } from './speech-protocol.ts'

/** Tells the main process something. Without one (it has ended, or this is a test) nobody is told. */
export function tellHost(message: FromEngine | FromSpeech): void {
  // An error is reported by the end of the channel; the callback keeps the failed write from being thrown.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** Signs of life closer together than this tell nothing more. */
const ALIVE_MS = 250

/** Makes what is to be called before and after what blocks the thread for long: from the last sign of life the host counts silence. */
export const aliveReporter = (): (() => void) =>
  throttled(
    () => tellHost({ kind: 'alive' }),
    ALIVE_MS,
    () => performance.now(),
  )
