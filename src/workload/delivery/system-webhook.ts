import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import type { SystemEventBody, SystemEventName } from '../../contracts/system-event.ts'
import { basic } from '../base/credentials.ts'
import { unreadJson } from '../base/json-pieces.ts'
import { asCallFailure, type CallFailure } from './call-failure.ts'
import { type Caller, callReceiver, type StreamTo, type WebhookCall } from './call-receiver.ts'
import { createEventLines, isProgress, type SystemEvent } from './event-lines.ts'
import type { RetrySchedule } from './retry-schedule.ts'

/** Events that wait at most, so that a receiver that is gone costs no memory. */
const MOST_WAITING = 1000
/** Prompts told of at a time, so that one slow answer does not hold up all others. */
const AT_ONCE = 8
/** Milliseconds from one attempt to tell of the progress of a prompt to the next. */
const PROGRESS_MS = 250

export interface SystemWebhookOptions extends Caller {
  /** Where the operator wants to be called; a name and a password in it become a header. */
  readonly url: string
  readonly events: readonly SystemEventName[]
  /** What every call says of this server. */
  readonly metadata: SystemEventBody['metadata']
  readonly schedule: RetrySchedule
  /** Of one event. */
  readonly attempts: number
  /** Told of every event that will not be told. */
  onDropped(): void
  readonly log: Log
}

/** Tells the operator what happens in this server. Nothing waits for it. */
export interface SystemWebhook {
  /** Takes an event that is wanted; others are ignored. */
  tell(event: SystemEvent): void
  /** Takes no more, and drops what could not be told within `graceMs`. */
  close(graceMs: number): Promise<void>
}

/**
 * Calls the receiver for each event: those of one prompt in their order, and its progress at most four times a second,
 * of which the newest is enough. What cannot be told is tried again for a while, then dropped. `stream` is asked for an
 * address that the operator chose, so rules for those of clients do not belong there.
 */
export function createSystemWebhook(options: SystemWebhookOptions): SystemWebhook {
  const { metadata, schedule, attempts, onDropped, log } = options
  const { url, headers } = receiverAt(options.url)
  const caller = { ...options, stream: withHeaders(options.stream, headers) }
  const wanted = new Set(options.events)
  const waiting = createEventLines(MOST_WAITING, onDropped)
  /** Lines of which an event is on its way. */
  const busy = new Set<string>()
  /** Lines whose progress was told a moment ago. */
  const resting = new Set<string>()
  const ending = new AbortController()
  let closed = false
  let failing = false
  let onIdle: (() => void) | undefined

  const isDue = (event: SystemEvent): boolean =>
    !busy.has(event.line) && (ending.signal.aborted || !isProgress(event) || !resting.has(event.line))
  const pump = (): void => {
    while (busy.size < AT_ONCE) {
      const event = waiting.take(isDue)
      if (!event) break
      busy.add(event.line)
      void deliver(event).finally(() => {
        busy.delete(event.line)
        pump()
      })
    }
    if (busy.size + waiting.size === 0) onIdle?.()
  }
  const rest = (line: string): void => {
    resting.add(line)
    const wake = () => {
      resting.delete(line)
      pump()
    }
    setTimeout(wake, PROGRESS_MS).unref()
  }
  const deliver = async (event: SystemEvent): Promise<void> => {
    const body = unreadJson({ event: event.event, data: event.data, metadata } satisfies SystemEventBody)
    const call = { url, body, webhookId: randomUUID() }
    for (let failures = 0; failures < attempts; failures++) {
      const wait = Math.max(schedule.waitAfter(failures), isProgress(event) && failures > 0 ? PROGRESS_MS : 0)
      if (wait > 0) await pause(wait, undefined, { signal: ending.signal }).catch(() => undefined)
      if (waiting.hasNewer(event)) return
      if (ending.signal.aborted) break
      if (isProgress(event)) rest(event.line)
      const failure = await failureOf(call, caller, ending.signal)
      noteOutcome(failure)
      if (!failure) return
      if (isForGood(failure)) break
    }
    onDropped()
  }
  /** One line when it begins to fail and one when that is over, or a receiver that is down would fill the log. */
  const noteOutcome = (failure: CallFailure | undefined): void => {
    if (failing === (failure !== undefined) || ending.signal.aborted) return
    failing = !failing
    if (failure) log.warn({ error: failure.message }, 'the receiver of system events cannot be told')
    else log.info({}, 'the receiver of system events is told again')
  }

  return {
    tell(event) {
      if (closed || !wanted.has(event.event)) return
      waiting.add(event)
      pump()
    },
    async close(graceMs) {
      closed = true
      const late = setTimeout(() => ending.abort(), graceMs)
      await new Promise<void>((resolve) => {
        onIdle = resolve
        ending.signal.addEventListener('abort', pump)
        pump()
      })
      clearTimeout(late)
    },
  }
}

/** Undefined when the receiver has it. */
const failureOf = (call: WebhookCall, caller: Caller, signal: AbortSignal): Promise<CallFailure | undefined> =>
  callReceiver(call, caller, signal).then(() => undefined, asCallFailure)

/** Whoever refuses an event will refuse it again, and others wait behind it. */
const isForGood = ({ status }: CallFailure): boolean =>
  status !== undefined && status < 500 && status !== 408 && status !== 429

/** Clients of HTTP refuse or ignore a name and a password in a URL. */
function receiverAt(text: string): { readonly url: string; readonly headers: Readonly<Record<string, string>> } {
  const url = new URL(text)
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = ''
  url.password = ''
  return { url: url.href, headers: username + password === '' ? {} : { authorization: basic(username, password) } }
}

const withHeaders =
  (stream: StreamTo, more: Readonly<Record<string, string>>): StreamTo =>
  (url, request) =>
    stream(url, { ...request, headers: { ...request.headers, ...more } })
