import type { JobProgress } from '../../contracts/job.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import { type Audience, createAudience } from '../engine/audience.ts'
import type { NodeEvent } from '../engine/protocol.ts'

/** Events that are kept for those who come late. */
const KEPT = 500
const PREVIEW = 'preview'

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
  /** Those who look at it: previews are made only for them. */
  readonly audience: Audience
  start(): void
  note(event: NodeEvent): void
  /** The last entry; a job that is `interrupted` goes on elsewhere. */
  end(name: 'complete' | 'failed' | 'interrupted', data: Readonly<Record<string, unknown>>): void
  /**
   * The kept events behind number `after`, then each as it happens; ends with the job or with `signal`. Of previews, which
   * come unless `previews` is false, only the newest is kept, and none of a job that has ended.
   */
  follow(after: number, signal: AbortSignal, previews?: boolean): AsyncGenerator<JobEvent>
}

/** `now` gives epoch milliseconds. */
export function createJobHistory(id: string, prompt: Prompt, now: () => number): JobHistory {
  const events: JobEvent[] = []
  const done = new Set<string>()
  const listeners = new Set<() => void>()
  const audience = createAudience()
  let [count, ended, updated] = [0, false, now()]
  let started: number | undefined
  let current: { node: string; value?: number | undefined; max?: number | undefined } | undefined

  const add = (name: string, data: Readonly<Record<string, unknown>>): void => {
    updated = now()
    events.push({ id: ++count, name, data: { prompt_id: id, ...data } })
    if (events.length > KEPT) events.shift()
    for (const listener of listeners) listener()
  }
  const forgetPreview = (): void => {
    const kept = events.findIndex(({ name }) => name === PREVIEW)
    if (kept >= 0) events.splice(kept, 1)
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
    audience,
    start() {
      started ??= now()
      done.clear()
      current = undefined
      forgetPreview()
      add('execution_start', { timestamp: now() })
    },
    note({ kind, node, value, max, preview }) {
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
      } else if (preview) {
        forgetPreview()
        const image = Buffer.from(preview).toString('base64')
        add(PREVIEW, { node, value, max, image, mime_type: 'image/jpeg' })
      }
    },
    end(name, data) {
      ended = true
      forgetPreview()
      add(name, data)
    },
    async *follow(after, signal, previews = true) {
      const leave = previews ? audience.join() : undefined
      try {
        for (let last = after; !signal.aborted; ) {
          const fresh = events.filter(({ id, name }) => id > last && (previews || name !== PREVIEW))
          last = Math.max(last, count)
          yield* fresh
          if (count > last) continue // more came while they were handed out
          if (ended || signal.aborted) return // an abort that has been is told to no listener
          await next(signal)
        }
      } finally {
        leave?.()
      }
    },
  }
}
