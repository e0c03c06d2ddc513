import { setTimeout as pause } from 'node:timers/promises'
import type { JobView } from './job.ts'
import type { JobBook } from './job-book.ts'
import type { JobEvent } from './job-history.ts'

interface FollowServices {
  readonly book: JobBook
  view(id: string): Promise<JobView>
  /** Whether pictures of what a sampler is at are wanted. */
  readonly previews: boolean
}

/** How often it is looked where a prompt is. */
const LOOK_MS = 250

/**
 * What happens to a prompt that waits in the queue or is in other hands: everything once it is in those of this server,
 * and else its end alone.
 */
export async function* followEntry(
  id: string,
  after: number,
  signal: AbortSignal,
  { book, view, previews }: FollowServices,
): AsyncGenerator<JobEvent> {
  while (!signal.aborted) {
    const job = book.find(id)
    if (job) return yield* job.history.follow(after, signal, previews)
    const { record, error, files } = await view(id)
    const data = { prompt_id: id, ...(error ? { code: error.code, error: error.message } : outputsOf(files)) }
    if (record.finish_time !== undefined) return yield { id: after + 1, name: error ? 'failed' : 'complete', data }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined) // the follower has gone: the loop ends
  }
}

const outputsOf = (files: readonly unknown[]) => ({ outputs: files.map((_, i) => i) })
