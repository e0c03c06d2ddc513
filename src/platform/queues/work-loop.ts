import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { callApplication } from './call-application.ts'
import type { Dispatch, Hold } from './dispatch.ts'
import type { Transitions } from './transitions.ts'

/** Takes jobs, calls an application with each and reports what came of it. */
export interface WorkLoop {
  /** Whether it may take jobs; what it has goes on in any case. */
  setReady(ready: boolean): void
  /** Takes what there is and what there is room for. Returns at once; several calls are one. */
  look(): void
  /** Takes no more, and ends the attempts that last longer than `graceMs` as failed. Resolves when none is left. */
  stop(graceMs: number): Promise<void>
  /** Ends as a process does that dies: nothing more is reported or renewed. */
  kill(): void
}

export interface WorkLoopOptions {
  readonly dispatch: Dispatch
  readonly transitions: Transitions
  /** Where jobs wait, in the order in which they are asked for some. */
  readonly places: () => readonly string[]
  /** The application. */
  readonly url: URL
  /** The most jobs at a time. */
  readonly concurrency: number
  readonly log: Log
}

export function createWorkLoop(options: WorkLoopOptions): WorkLoop {
  const { dispatch, transitions, places, url, concurrency, log } = options
  const carrying = new Map<Hold, Promise<void>>()
  const end = new AbortController()
  let ready = false
  let stopped = false
  let killed = false
  let looking: Promise<void> | undefined
  let again = false
  let next = 0

  async function carry(hold: Hold): Promise<void> {
    const attempt = await transitions.start(hold.id)
    if (!attempt) return hold.done()
    const answer = await callApplication(url, attempt, end.signal)
    if (killed) return
    if ('failure' in answer) {
      log.info({ id: hold.id, attempt: attempt.number, reason: answer.failure }, 'an attempt failed')
      return (await transitions.fail(attempt)) ? hold.again() : hold.done()
    }
    await transitions.succeed(attempt, answer.output)
    return hold.done()
  }

  function begin(hold: Hold): void {
    const carried = carry(hold)
      .catch((error: unknown) => {
        // Its state could not be written: with its lease it goes to another.
        hold.drop()
        log.warn({ id: hold.id, reason: messageOf(error) }, 'a job was dropped')
      })
      .finally(() => {
        carrying.delete(hold)
        look()
      })
    carrying.set(hold, carried)
  }

  /** In turn, so that no place waits for another to be empty. */
  async function take(): Promise<Hold | undefined> {
    const names = places()
    for (let asked = 0; asked < names.length; asked++) {
      const hold = await dispatch.take(names[next++ % names.length]!)
      if (hold) return hold
    }
    return undefined
  }

  async function takeAll(): Promise<void> {
    do {
      again = false
      while (ready && !stopped && carrying.size < concurrency) {
        const hold = await take()
        if (!hold) break
        if (killed) hold.drop()
        else begin(hold)
      }
    } while (again)
  }

  function look(): void {
    again = true
    looking ??= takeAll()
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'no job can be taken'))
      .finally(() => {
        looking = undefined
      })
  }

  return {
    setReady(now) {
      ready = now
      if (now) look()
    },
    look,
    async stop(graceMs) {
      stopped = true
      await looking
      const late = setTimeout(() => end.abort(new Error('the worker was stopped')), graceMs)
      await Promise.all(carrying.values())
      clearTimeout(late)
    },
    kill() {
      stopped = true
      killed = true
      for (const hold of carrying.keys()) hold.drop()
      end.abort(new Error('the worker died'))
    },
  }
}
