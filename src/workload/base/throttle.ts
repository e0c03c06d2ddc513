/** `act` at most once in `ms`; calls between are dropped. `now` is a monotonic clock in milliseconds. */
export function throttled(act: () => void, ms: number, now: () => number): () => void {
  let last = Number.NEGATIVE_INFINITY
  return () => {
    if (now() - last < ms) return
    last = now()
    act()
  }
}
