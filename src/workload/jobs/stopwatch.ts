import type { NodeStats, Stats } from '../../contracts/prompt.ts'
import type { EngineResult, NodeEvent } from '../engine/protocol.ts'

/** Takes the times of one job; `now` gives epoch milliseconds. */
export interface Stopwatch {
  /** The inputs are there and the prompt waits for an engine. */
  queued(): void
  /** An engine has taken it, perhaps for the second time. */
  started(): void
  note(event: NodeEvent): void
  /** The files are on their way somewhere until `work` ends. */
  uploading<T>(work: Promise<T>): Promise<T>
  /** The times that are known only when the files have arrived. */
  delivered(): Pick<Stats, 'upload_time' | 'total_time'>
  /** What a line of the log should tell. */
  summary(): Readonly<Record<'duration_ms' | 'nodes_run' | 'nodes_cached', number>>
  stats(result: EngineResult): Stats
}

/** Starts when it is made; the prompt was `accepted` then, or has waited in a queue since. */
export function createStopwatch(now: () => number, accepted: number): Stopwatch {
  const arrival = now()
  let queuedAt = arrival
  let startedAt: number | undefined
  let uploadTime = 0
  const nodes = new Map<string, NodeStats>()
  return {
    queued() {
      queuedAt = now()
    },
    started() {
      startedAt ??= now()
      nodes.clear()
    },
    note({ kind, node, at }) {
      if (kind === 'cached') nodes.set(node, { start: at, end: at, duration: 0, cached: true })
      if (kind === 'started') nodes.set(node, { start: at, cached: false })
      const start = nodes.get(node)?.start
      if (kind === 'finished' && start !== undefined)
        nodes.set(node, { start, end: at, duration: at - start, cached: false })
    },
    async uploading(work) {
      const from = now()
      return work.finally(() => {
        uploadTime = now() - from
      })
    },
    delivered: () => ({ upload_time: uploadTime, total_time: now() - accepted }),
    summary() {
      const cached = [...nodes.values()].filter((node) => node.cached).length
      return { duration_ms: now() - accepted, nodes_run: nodes.size - cached, nodes_cached: cached }
    },
    stats({ start, end, encodeTime, inferenceTime }) {
      return {
        comfy_execution: { start, end, duration: end - start, nodes: Object.fromEntries(nodes) },
        preprocess_time: queuedAt - arrival,
        queue_time: (startedAt ?? queuedAt) - queuedAt + (arrival - accepted),
        comfy_round_trip_time: end - queuedAt,
        inference_time: Math.round(inferenceTime),
        postprocess_time: encodeTime,
        upload_time: uploadTime,
        total_time: now() - accepted,
      }
    },
  }
}
