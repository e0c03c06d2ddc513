import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import type { WorkLoop } from './work-loop.ts'

/** Failures in a row after which an instance counts as not ready. */
const BELIEVED_FAILURES = 3
/** The longest wait between two questions to an instance that does not answer. */
const LONGEST_MS = 60_000

/** The worker of one instance (platform reference, section 15.2). */
export interface QueueWorker {
  /** Asks for the instance's state now and not only at the next turn. */
  check(): Promise<void>
  /** Takes no more; a job that lasts longer than `graceMs` is an attempt that failed. */
  stop(graceMs: number): Promise<void>
  /** Is gone at once, as with its node: its job goes to another when the lease runs out. */
  kill(): void
}

/** What an instance tells of itself; undefined when it is gone. */
export type InstanceStatus = () => Promise<{ readonly ready: boolean } | undefined>

export interface FollowOptions {
  readonly status: InstanceStatus
  readonly loop: WorkLoop
  /** Between two questions, in milliseconds. */
  readonly pollMs: number
  /** Called once when the instance is gone. */
  readonly onGone?: () => void
  readonly log: Log
}

/** Has a loop take jobs while the instance is ready. */
export function followReadiness({ status, loop, pollMs, onGone, log }: FollowOptions): QueueWorker {
  let failures = 0
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  async function check(): Promise<void> {
    clearTimeout(timer)
    try {
      const answer = await status()
      failures = 0
      const isGone = !answer && !stopped
      if (!answer) stopped = true
      loop.setReady(!stopped && answer?.ready === true)
      if (isGone) onGone?.()
    } catch (error) {
      failures++
      log.debug({ reason: messageOf(error) }, 'an instance does not tell whether it is ready')
      if (failures === BELIEVED_FAILURES) log.warn({ reason: messageOf(error) }, 'an instance counts as not ready')
      if (failures >= BELIEVED_FAILURES) loop.setReady(false)
    }
    clearTimeout(timer)
    const growing = pollMs * 2 ** Math.max(0, failures - BELIEVED_FAILURES)
    if (!stopped) timer = setTimeout(() => void check(), Math.min(growing, Math.max(pollMs, LONGEST_MS)))
  }
  const end = (): void => {
    stopped = true
    clearTimeout(timer)
    loop.setReady(false)
  }

  void check()
  return {
    check,
    stop(graceMs) {
      end()
      return loop.stop(graceMs)
    },
    kill() {
      end()
      loop.kill()
    },
  }
}

/** Where an application takes jobs (platform reference, section 15.3); a missing leading slash is added. */
export const applicationUrl = (port: number, path: string): URL =>
  // As text: resolved, a path of two slashes would lead to another host.
  new URL(`http://localhost:${port}${path.startsWith('/') ? '' : '/'}${path}`)
