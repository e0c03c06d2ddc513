import type { ExecutionEvent } from '../graph/execute.ts'
import type { Picture, Sketch } from './protocol.ts'

/** Sketches of one prompt are at least so far apart. */
const SKETCH_MS = 250

/** Makes sketches of one prompt while they are wanted. */
export interface Sketching {
  wanted: boolean
  note(event: ExecutionEvent): void
}

/** `send` is called behind whatever the turn has to tell beside; `now` is a monotonic clock in milliseconds. */
export function createSketching(wanted: boolean, send: (sketch: Sketch) => void, now: () => number): Sketching {
  let last = Number.NEGATIVE_INFINITY
  const sketching: Sketching = {
    wanted,
    note(event) {
      if (!sketching.wanted || event.kind !== 'progress' || !event.sketch || now() - last < SKETCH_MS) return
      last = now()
      const { node, value, max } = event
      const picture = event.sketch() as Picture // all that our nodes sketch
      queueMicrotask(() => send({ node, value, max, picture }))
    },
  }
  return sketching
}
