import type { JobProgress } from '../../contracts/job.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import type { NodeEvent } from '../engine/protocol.ts'

/** Events that are kept for those who come late. */
const KEPT = 500

/** Something that happened to a job, under the name ComfyUI's clients know where there is one. */
export interface JobEvent {
  /** Rises by one from event to event. */
  readonly id: number
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What has happened to one job, and who wants to hear of it. */
export interface JobHistory {
  readonly progress: JobProgress | undefined
  /** Epoch milliseconds; undefined before an engine has taken it. */
  readonly started: number | undefined
  /** Epoch milliseconds of the newest entry. */
  readonly updated: number
  start(): void
  note(event: NodeEvent): void
  /** The last entry. */
  end(name: 'complete' | 'failed', data: Readonly<Record<string, unknown>>): void
  /** The kept events behind number `after`, then each as it happens; ends with the job or with `signal`. */
  follow(after: number, signal: AbortSignal): AsyncGenerator<JobEvent>
}

/** `now` gives epoch milliseconds. */
export function createJobHistory(id: string, prompt: Prompt, now: () => number): JobHistory {
  const events: JobEvent[] = []
  const done = new Set<string>()
  const listeners = new Set<() => void>()
  let [count, ended, updated] = [0, false, now()]
  let started: number | undefined
  let current: { node: string; value?: number | undefined; max?: number | undefined } | undefined

  const add = (name: string, data: Readonly<Record<string, unknown>>): void => {
    updated = now()
    events.push({ id: ++count, name, data: { prompt_id: id, ...data } })
    if (events.length > KEPT) events.shift()
    for (const listener of listeners) listener()
  }
  const next = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = () => {
        listeners.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      listeners.add(wake)
      signal.addEventListener('abort', wake)
    })

  return {
    get progress() {
      if (!current || ended) return undefined
      const { node, value, max } = current
      const counts = { nodes_done: done.size, nodes_total: Object.keys(prompt).length }
      return { node, class_type: prompt[node]?.class_type ?? '', ...(max !== undefined && { value, max }), ...counts }
    },
    get started() {
      return started
    },
    get updated() {
      return updated
    },
    start() {
      started ??= now()
      done.clear()
      current = undefined
      add('execution_start', { timestamp: now() })
    },
    note({ kind, node, value, max }) {
      if (kind === 'cached') {
        done.add(node)
        add('execution_cached', { nodes: [node] })
      } else if (kind === 'started') {
        current = { node }
        add('executing', { node })
      } else if (kind === 'progress') {
        current = { node, value, max }
        add('progress', { node, value, max })
      } else if (kind === 'finished') {
        done.add(node)
        add('executed', { node })
      }
    },
    end(name, data) {
      ended = true
      add(name, data)
    },
    async *follow(after, signal) {
      for (let last = after; !signal.aborted; ) {
        const fresh = events.filter((event) => event.id > last)
        yield* fresh
        last = fresh.at(-1)?.id ?? last
        if ((events.at(-1)?.id ?? 0) > last) continue // more came while they were handed out
        if (ended) return
        await next(signal)
      }
    },
  }
}
