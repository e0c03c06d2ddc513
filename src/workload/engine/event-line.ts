import type { ExecutionEvent } from '../graph/execute.ts'
import { tellHost } from './channel.ts'
import type { NodeEvent, NodeOutput } from './protocol.ts'

/** Reports of progress of one prompt are at least so far apart; the last of a node is always told. */
const PROGRESS_MS = 100

/** A node that ends the prompt has shown what it has. */
interface OutputEvent {
  readonly kind: 'output'
  readonly node: string
  readonly output: NodeOutput
}

/**
 * Where the events of one run go: they are sent at the end of the turn in which they happened, in one message, because
 * a message costs more than what it says, and at most ten times a second for progress.
 */
export function createEventLine(run: string): (event: ExecutionEvent | OutputEvent) => void {
  let waiting: NodeEvent[] = []
  let progressed = 0
  const flush = (): void => {
    tellHost({ kind: 'events', run, events: waiting })
    waiting = []
  }
  return (event) => {
    const at = Date.now()
    if (event.kind === 'progress' && event.value < event.max) {
      if (at - progressed < PROGRESS_MS) return
      progressed = at
    }
    if (waiting.length === 0) queueMicrotask(flush)
    waiting.push({ ...event, at })
  }
}
