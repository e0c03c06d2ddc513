import type { FromEngine } from './protocol.ts'

/** Tells the main process something. Without one (it has ended, or this is a test) nobody is told. */
export function tellHost(message: FromEngine): void {
  // An error is reported by the end of the channel; the callback keeps the failed write from being thrown.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** To be called before and after what blocks the thread for long: from the last sign of life the host counts silence. */
export const reportAlive = (): void => tellHost({ kind: 'alive' })
