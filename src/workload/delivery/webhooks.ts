import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { CallFailure } from './call-failure.ts'
import { callReceiver, type StreamTo } from './call-receiver.ts'
import type { DeliveryState, Destination, Parcel, Webhooks } from './parcel.ts'
import { retrySchedule } from './retry-schedule.ts'
import { signingKeys } from './signature.ts'
import { type WebhookCalls, webhookCalls } from './webhook-body.ts'

export interface WebhookSettings {
  readonly stream: StreamTo
  /** As `signingKeys` reads it. */
  readonly secret: string | undefined
  /** How often each call is made at most. */
  readonly attempts: number
  /** Of one attempt; more for large bodies. */
  readonly timeoutMs: number
  /** Waits before the first attempt, the second and so on; the last stands for all that follow. */
  readonly scheduleMs: readonly number[]
  /** Of a body; what is larger becomes links. */
  readonly maxBytes: number
  /** Where clients reach this server; undefined: they cannot be given links. */
  readonly publicUrl: string | undefined
  /** 0 to 1. */
  random(): number
  /** Epoch milliseconds. */
  now(): number
  readonly log: Log
  /** Counts. */
  readonly onAttempt?: (kind: Destination['kind'], outcome: 'ok' | 'failed') => void
}

/** Throws when the secret cannot be used. */
export function createWebhooks(settings: WebhookSettings): Webhooks {
  const { attempts, now, log, onAttempt } = settings
  const caller = { ...settings, keys: signingKeys(settings.secret) }
  const schedule = retrySchedule(settings.scheduleMs, settings.random)

  /** Where the delivery stands after one more attempt; rejects only with `signal`'s reason. */
  const attempt = async (
    { parcel, to, calls, state }: Errand & { readonly state: DeliveryState },
    signal: AbortSignal,
  ): Promise<DeliveryState> => {
    const began = now()
    const { nextAttempt: _next, lastError: _error, failures = 0, ...rest } = state
    const made = { ...rest, attempts: state.attempts + 1 }
    const facts = { id: parcel.id, kind: to.kind, host: new URL(to.url).host, attempt: failures + 1 }
    // A failure has one body, though files may have been delivered before a run of the same prompt that failed.
    const body = calls.body(Math.min(state.done, calls.count - 1))
    const webhookId = to.kind === 'webhook_v2' ? parcel.webhookId : undefined
    try {
      const status = await callReceiver({ url: to.url, body, webhookId }, caller, signal)
      onAttempt?.(to.kind, 'ok')
      log.info({ ...facts, status, ms: now() - began }, 'webhook delivered')
      const done = state.done + 1
      return { ...made, done, status: done < calls.count ? 'pending' : 'delivered' }
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
      onAttempt?.(to.kind, 'failed')
      const { message: lastError, status, final, retryAfter } = error
      const failed = { ...made, failures: failures + 1, lastError }
      const told = { ...facts, ...(status !== undefined && { status }), error: lastError, ms: now() - began }
      if (final || failed.failures >= attempts) {
        log.error(told, 'webhook not delivered: this was the last attempt')
        return { ...failed, status: 'failed' }
      }
      const wait = Math.round(schedule.waitAfter(failed.failures, retryAfter))
      log.warn({ ...told, wait }, 'webhook not delivered: it will be tried again')
      return { ...failed, nextAttempt: now() + wait }
    }
  }

  /** Milliseconds until the next attempt may begin. */
  const waitOf = ({ nextAttempt, attempts: made }: DeliveryState): number =>
    nextAttempt === undefined
      ? made === 0
        ? schedule.waitAfter(0)
        : 0
      : Math.min(Math.max(nextAttempt - now(), 0), schedule.longest)

  /** Goes on until the state is final; `keep` hears of every change. */
  const carry = async (
    { state, ...errand }: Errand & { readonly state: DeliveryState },
    keep: (state: DeliveryState) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> => {
    for (let at = state; at.status === 'pending'; await keep(at)) {
      if (errand.calls.count === 0) {
        at = { ...at, status: 'delivered' } // a result without files, of which the plain kind tells nothing
        continue
      }
      const wait = waitOf(at)
      if (wait > 0) await pause(wait, undefined, { signal })
      at = await attempt({ ...errand, state: at }, signal)
    }
  }

  return {
    tooLarge(parcel, destinations) {
      const each = destinations.map(({ kind }) => webhookCalls(parcel, kind, settings).tooLarge)
      return each.find((fate) => fate !== undefined)
    },

    async deliver(parcel, destinations, states, keep, signal) {
      const current = [...states]
      const stop = new AbortController()
      const either = AbortSignal.any([signal, stop.signal])
      // One after another, so that what is kept last is newest.
      let keeping = Promise.resolve()
      const keepAt = (i: number) => (state: DeliveryState) => {
        current[i] = state
        keeping = keeping.then(() => keep([...current]))
        return keeping
      }
      const carried = destinations.map(async (to, i) => {
        try {
          const calls = webhookCalls(parcel, to.kind, settings)
          await carry({ parcel, to, calls, state: states[i]! }, keepAt(i), either)
        } catch (error) {
          stop.abort(error) // nobody goes on when what was done cannot be noted
        }
      })
      await Promise.all(carried)
      signal.throwIfAborted()
      stop.signal.throwIfAborted()
      return current
    },
  }
}

/** One parcel for one receiver. */
interface Errand {
  readonly parcel: Parcel
  readonly to: Destination
  readonly calls: WebhookCalls
}
