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
  readonly took: number
}

/** Where the events of one run go. */
export type EventLine = (event: ExecutionEvent | OutputEvent) => void

/**
 * The line of one run: its events are sent at the end of the turn in which they happened, in one message, because
 * a message costs more than what it says, and at most ten times a second for progress.
 */
export function createEventLine(run: string): EventLine {
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
    waiting.push({ ...withoutSketch(event), at })
  }
}

/** Functions do not cross. */
function withoutSketch(event: ExecutionEvent | OutputEvent): Omit<NodeEvent, 'at'> {
  if (event.kind !== 'progress') return event
  const { sketch: _, ...told } = event
  return told
}
