import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { messageOf } from '../base/errors.ts'
import { createTrouble } from '../base/trouble.ts'
import type { Call } from './call-application.ts'
import type { Dispatch, Hold } from './dispatch.ts'
import type { Transitions } from './transitions.ts'

/** Between two tries to write down what came of a job, and how many there are: about as long as a lease lasts. */
const REPORT_MS = 1000
const REPORTS = 60
/** Redis and records that do not answer are not waited for longer when everything else has ended. */
const ANSWER_MS = 2000

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
  /** Asks the application. */
  readonly call: Call
  /** The most jobs at a time. */
  readonly concurrency: number
  /**
   * For an application whose readiness is asked for: when it turns out to be away, it gets no job for so many milliseconds,
   * and only when it is ready then. Otherwise one that died would cost a job all its attempts before its end is noticed.
   */
  readonly restMs?: number
  /** Called when a job was put back, for whoever else may take it. */
  readonly onAgain?: () => void
  readonly log: Log
}

export function createWorkLoop(options: WorkLoopOptions): WorkLoop {
  const { dispatch, transitions, places, call, concurrency, restMs, log } = options
  const carrying = new Map<Hold, Promise<void>>()
  const end = new AbortController()
  const trouble = createTrouble(log, 'no job can be taken')
  let ready = false
  /** As `performance.now()`. */
  let restingUntil = 0
  let stopped = false
  let killed = false
  let looking: Promise<void> | undefined
  let again = false
  let next = 0

  async function carry(hold: Hold): Promise<void> {
    const attempt = await transitions.start(hold.id)
    if (!attempt) return hold.done()
    const answer = await call(attempt, end.signal)
    if (killed) return
    if ('failure' in answer) {
      log.info({ id: hold.id, attempt: attempt.number, reason: answer.failure }, 'an attempt failed')
      if (answer.isAway && restMs !== undefined) rest(restMs)
      if (!(await report(() => transitions.fail(attempt, answer.output)))) return hold.done()
      await hold.again()
      return options.onAgain?.()
    }
    await report(() => transitions.succeed(attempt, answer.output))
    return hold.done()
  }

  function rest(ms: number): void {
    ready = false
    restingUntil = performance.now() + ms
  }

  /** Records that are away for a moment cost no attempt; reporting twice does nothing. */
  async function report<T>(write: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; tried++)
      try {
        return await write()
      } catch (error) {
        if (tried === REPORTS || end.signal.aborted) throw error
        log.debug({ reason: messageOf(error) }, 'what came of a job is not written yet')
        await sleep(REPORT_MS, undefined, { signal: end.signal }).catch(() => undefined) // then this is the last try
      }
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
        else if (stopped) await hold.again()
        else begin(hold)
      }
    } while (again)
  }

  function look(): void {
    again = true
    looking ??= takeAll()
      .then(trouble.passed, trouble.failed)
      .finally(() => {
        looking = undefined
      })
  }

  return {
    setReady(now) {
      ready = now && performance.now() >= restingUntil
      if (ready) look()
    },
    look,
    async stop(graceMs) {
      stopped = true
      const late = setTimeout(() => end.abort(new Error('the worker was stopped')), graceMs)
      await within(ANSWER_MS, looking)
      await within(graceMs + ANSWER_MS, Promise.all(carrying.values()))
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

/** Resolves with `work`, or after `ms`. */
async function within(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  const patience = new AbortController()
  await Promise.race([work, sleep(ms, undefined, { signal: patience.signal }).catch(() => undefined)]) // aborted below
  patience.abort()
}
