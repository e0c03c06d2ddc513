/** Watches the calls that block the thread; such calls never overlap on one thread. */
export interface BlockingWatch {
  /** To be told before and after each. */
  onBlocking(what: string, phase: 'begin' | 'end'): void
  /** Milliseconds that the thread has been blocked since the process began. */
  total(): number
}

/** Gives a sign of life before and after each blocking call and adds up how long they took. */
export function watchBlocking(reportAlive: () => void): BlockingWatch {
  let [began, total] = [0, 0]
  return {
    onBlocking(_what, phase) {
      reportAlive()
      if (phase === 'begin') began = performance.now()
      else total += performance.now() - began
    },
    total: () => total,
  }
}
