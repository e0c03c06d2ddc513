import { setImmediate as nextTurn } from 'node:timers/promises'
import { rowsOf, stackRows, takeRows } from '../tensor/rows.ts'
import type { Session, SharedTensors, Tensors } from './session.ts'

interface Call {
  readonly feeds: Tensors
  readonly shared: SharedTensors | undefined
  readonly rows: number
  /** Calls may share a run when names and shapes agree beyond the first axis, and `shared` is one object. */
  readonly shape: string
  resolve(outputs: Tensors): void
  reject(error: unknown): void
}

/**
 * A session whose waiting calls become one run: stacked row by row, padded to the next of `buckets` (rising), and
 * taken apart again. Nobody above knows; twenty prompts at twenty different steps are one call of the network.
 */
export function createBatchedSession(session: Session, buckets: readonly number[]): Session {
  let waiting: readonly Call[] = []
  let draining = false

  const drain = async (): Promise<void> => {
    draining = true
    while (waiting.length > 0) {
      await nextTurn() // lets every caller that is ready at this moment join
      const batch = nextBatch(waiting, buckets.at(-1)!)
      waiting = waiting.filter((call) => !batch.includes(call))
      await runTogether(session, batch, buckets)
    }
    draining = false
  }

  return {
    run: (feeds, shared) =>
      new Promise((resolve, reject) => {
        const rows = rowsOf(Object.values(feeds)[0]!)
        const shape = JSON.stringify(Object.entries(feeds).map(([name, { dims }]) => [name, dims.slice(1)]))
        waiting = [...waiting, { feeds, shared, rows, shape, resolve, reject }]
        if (!draining) void drain()
      }),
  }
}

/** The first call and as many of the same shape as fit; a call larger than the largest bucket goes alone. */
function nextBatch(waiting: readonly Call[], limit: number): readonly Call[] {
  const [first, ...others] = waiting as [Call, ...Call[]]
  const batch = [first]
  let rows = first.rows
  for (const call of others) {
    if (call.shape !== first.shape || call.shared !== first.shared || rows + call.rows > limit) continue
    batch.push(call)
    rows += call.rows
  }
  return batch
}

/** One run for all of `batch`. Settles every call and never rejects itself. */
async function runTogether(session: Session, batch: readonly Call[], buckets: readonly number[]): Promise<void> {
  try {
    const rows = batch.reduce((sum, call) => sum + call.rows, 0)
    const bucket = buckets.find((size) => size >= rows) ?? rows
    const stack = (name: string) => batch.map(({ feeds }) => feeds[name]!)
    const names = Object.keys(batch[0]!.feeds)
    const feeds =
      batch.length === 1 && bucket === rows
        ? batch[0]!.feeds
        : Object.fromEntries(names.map((name) => [name, stackRows(stack(name), bucket)]))
    const outputs = Object.entries(await session.run(feeds, batch[0]!.shared))
    let from = 0
    for (const call of batch) {
      const to = from + call.rows
      call.resolve(Object.fromEntries(outputs.map(([name, output]) => [name, takeRows(output, from, to)])))
      from = to
    }
  } catch (error) {
    for (const call of batch) call.reject(error)
  }
}
