import type { Log } from '../../common/log.ts'
import type { Db } from '../base/database.ts'
import { messageOf } from '../base/errors.ts'
import { CallFailure, createCaller } from './call.ts'
import { createMessages, type Message } from './messages.ts'
import { webhookSecretOf } from './secret.ts'

export interface WebhookDeliveryOptions {
  readonly db: Db
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly log: Log
  /** Whether no other process delivers what lies there: then what one that died was sending is sent at once. */
  readonly isAlone?: boolean
  readonly settings?: Partial<WebhookDeliverySettings>
}

/** Times are in milliseconds. */
export interface WebhookDeliverySettings {
  /** Before the first attempt, the second and so on; a message is given up after as many. */
  readonly waitsMs: readonly number[]
  /** Of one attempt. */
  readonly timeoutMs: number
  /** Whether private, loopback and link-local addresses are refused. */
  readonly blockPrivate: boolean
  /** Attempts at once. */
  readonly concurrency: number
  /** Messages that other processes have stored are found after so long. */
  readonly pollMs: number
}

/** Sends what lies in `webhook_messages`, and never touches a job (platform reference, section 24). */
export interface WebhookDelivery {
  /** Begins, with what an earlier process has left. */
  open(): void
  /** To be called when a message was stored: it is sent at once. */
  wake(): void
  /** Breaks attempts off, which then do not count, and resolves when they are noted as due. */
  close(): Promise<void>
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const defaults: WebhookDeliverySettings = {
  waitsMs: [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
  timeoutMs: 15 * SECOND,
  blockPrivate: false,
  concurrency: 16,
  pollMs: 10 * SECOND,
}

/** Beyond the time-out of an attempt, before another process takes it for lost. */
const LEASE_MS = 45 * SECOND

export function createWebhookDelivery(options: WebhookDeliveryOptions): WebhookDelivery {
  const { db, now, log, isAlone = false, settings } = options
  const { waitsMs, concurrency, pollMs, ...calls } = { ...defaults, ...settings }
  const messages = createMessages(db)
  const caller = createCaller({ ...calls, now })
  const closing = new AbortController()
  const underWay = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let isOpen = false
  let again = false

  /** Makes one attempt and notes how it ended. */
  async function attempt(message: Message): Promise<void> {
    const { id, url, body, organization_id } = message
    const attempts = message.attempts + 1
    const facts = { id, host: URL.canParse(url) ? new URL(url).host : '', attempt: attempts }
    try {
      const secret = await webhookSecretOf(db, organization_id)
      await caller.call({ id, url, body, secret }, closing.signal)
      await messages.remove(message)
      log.info(facts, 'webhook delivered')
    } catch (error) {
      if (closing.signal.aborted) return messages.postpone(message, message.attempts, now())
      if (!(error instanceof CallFailure)) throw error
      const wait = waitsMs[attempts]
      if (wait === undefined) {
        log.error({ ...facts, reason: error.message }, 'webhook not delivered: this was the last attempt')
        return messages.giveUp(message, `Webhook not delivered after ${attempts} attempts: ${error.message}`, now())
      }
      log.warn({ ...facts, reason: error.message, wait }, 'webhook not delivered: it will be tried again')
      await messages.postpone(message, attempts, now() + wait)
    }
  }

  /** Whatever cannot be noted is due again when its lease ends. */
  function begin(message: Message): void {
    const one = attempt(message)
      .catch((error: unknown) => log.error({ id: message.id, err: error }, 'an attempt could not be noted'))
      .finally(() => {
        underWay.delete(one)
        look()
      })
    underWay.add(one)
  }

  async function takeAll(): Promise<void> {
    do {
      again = false
      const room = concurrency - underWay.size
      if (room === 0) return // who ends looks again
      const claimed = await messages.claim(now(), now() + calls.timeoutMs + LEASE_MS, room)
      claimed.forEach(begin)
      again ||= claimed.length === room
    } while (again && !closing.signal.aborted)
    const due = (await messages.nextDue()) ?? Number.POSITIVE_INFINITY
    lookAfter(Math.min(Math.max(due - now(), 0), pollMs))
  }

  function lookAfter(ms: number): void {
    clearTimeout(timer)
    if (!closing.signal.aborted) timer = setTimeout(look, ms)
  }

  function look(): void {
    if (!isOpen || closing.signal.aborted) return
    again = true
    looking ??= takeAll()
      .catch((error: unknown) => {
        log.error({ reason: messageOf(error) }, 'webhooks cannot be read')
        lookAfter(pollMs)
      })
      .finally(() => {
        looking = undefined
        if (again) look()
      })
  }

  return {
    open() {
      const released = isAlone && waitsMs[0] === 0 ? messages.release(now()) : Promise.resolve()
      released
        .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'webhooks wait until their lease ends'))
        .finally(() => {
          isOpen = true
          look()
        })
    },
    wake: look,
    async close() {
      closing.abort(new Error('the platform is closing'))
      clearTimeout(timer)
      await looking
      await caller.close()
      await Promise.all(underWay)
    },
  }
}
