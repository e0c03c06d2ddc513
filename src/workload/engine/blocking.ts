/** Watches the calls that block the thread. */
export interface BlockingWatch {
  /** To be told before and after each. Several may be under way: one has begun and waits while another runs. */
  onBlocking(phase: 'begin' | 'end'): void
  /** Milliseconds during which at least one was under way, since the process began. */
  total(): number
}

/** Gives a sign of life before and after each blocking call and adds up how long they took; `now` is in milliseconds. */
export function watchBlocking(reportAlive: () => void, now: () => number): BlockingWatch {
  let [underWay, began, total] = [0, 0, 0]
  return {
    onBlocking(phase) {
      reportAlive()
      if (phase === 'begin' && underWay++ === 0) began = now()
      if (phase === 'end' && --underWay === 0) total += now() - began
    },
    total: () => total,
  }
}
