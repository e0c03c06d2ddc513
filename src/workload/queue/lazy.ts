import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { once } from '../base/once.ts'
import type { JobQueue } from './job-queue.ts'

const RETRY_MS = 5000

/**
 * A queue that is opened when it is first needed, because opening takes time and memory and many servers never need it:
 * at the first submission, or once work may start if `exists` says that there is something to resume.
 */
export function createLazyQueue({
  open,
  exists,
  log,
}: {
  open(): Promise<JobQueue>
  exists(): boolean
  readonly log: Log
}): JobQueue {
  let queue: JobQueue | undefined
  let opening: Promise<JobQueue> | undefined
  let failed = false
  let working: Parameters<JobQueue['work']> | undefined
  const ending = new AbortController()

  const opened = once(() => {
    opening = open().then(
      (opened) => {
        failed = false
        if (working && !ending.signal.aborted) opened.work(...working)
        queue = opened
        return opened
      },
      (error: unknown) => {
        failed = true
        throw error
      },
    )
    return opening
  })
  /** The queue if it was opened or is on the way. */
  const late = async (): Promise<JobQueue | undefined> => queue ?? (await opening?.catch(() => undefined))
  /** The queue if there is one or was one. */
  const there = async (): Promise<JobQueue | undefined> => queue ?? (exists() ? await opened() : undefined)

  async function resume(): Promise<void> {
    while (!queue && !ending.signal.aborted)
      try {
        await opened()
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'the queue of prompts cannot be opened yet')
        await pause(RETRY_MS, undefined, { signal: ending.signal }).catch(() => undefined)
      }
  }

  return {
    submit: async (request) => (await opened()).submit(request),
    find: async (id) => (await there())?.find(id),
    list: async (mostEnded) => (await there())?.list(mostEnded) ?? [],
    get waiting() {
      return queue?.waiting ?? 0
    },
    work(handle, hasRoom) {
      working = [handle, hasRoom]
      if (queue) queue.work(handle, hasRoom)
      else if (exists()) void resume()
    },
    roomChanged: () => queue?.roomChanged(),
    cancel: async (id) => (await there())?.cancel(id) ?? false,
    revive: async (id, note) => (await there())?.revive(id, note) ?? false,
    remove: async (id) => (await there())?.remove(id),
    get reachable() {
      return queue?.reachable ?? !failed
    },
    async rest() {
      ending.abort()
      await (await late())?.rest()
    },
    async close() {
      ending.abort()
      await (await late())?.close()
    },
  }
}
