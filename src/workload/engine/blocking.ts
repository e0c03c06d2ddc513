import type { Log } from '../base/log.ts'

/**
 * To be told before and after each call that blocks the thread: gives a sign of life both times and writes how long it
 * took, which is what remains of a run when everything else is subtracted. Such calls never overlap on one thread.
 */
export function watchBlocking(reportAlive: () => void, log: Pick<Log, 'debug'>) {
  let began = 0
  return (what: string, phase: 'begin' | 'end'): void => {
    reportAlive()
    if (phase === 'begin') began = performance.now()
    else log.debug({ what, ms: performance.now() - began }, 'blocked')
  }
}
