import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { DeliveryState, Destination, Parcel } from '../../../src/workload/delivery/parcel.ts'
import type { WebhookSettings } from '../../../src/workload/delivery/webhooks.ts'
import { addressRules } from '../../../src/workload/media/address-rules.ts'
import { createOutbound } from '../../../src/workload/media/outbound.ts'
import { type Behaviour, inTurn, receiver } from '../../support/receiver.ts'
import { completeParcel, failedParcel, fresh, webhooksWith } from '../../support/webhooks.ts'

const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Delivers to receivers, from the beginning or from `states`, and shows what was kept on the way. */
async function deliver(
  parcel: Parcel,
  destinations: readonly Destination[],
  {
    states = destinations.map(fresh),
    signal = new AbortController().signal,
    ...settings
  }: Partial<WebhookSettings> & { states?: readonly DeliveryState[]; signal?: AbortSignal } = {},
) {
  const kept: (readonly DeliveryState[])[] = []
  const keep = async (at: readonly DeliveryState[]) => void kept.push(at)
  const ended = await webhooksWith(settings).deliver(parcel, destinations, states, keep, signal)
  return { kept, ended, states: ended.map(({ status, attempts, lastError }) => [status, attempts, lastError] as const) }
}
const v2 = (url: string): Destination => ({ kind: 'webhook_v2', url: `${url}/v2` })
const plain = (url: string): Destination => ({ kind: 'webhook', url: `${url}/plain` })

describe('a webhook', () => {
  it('is called until it answers 2xx, under the same id, with a signature for each time', async () => {
    const to = await receiver({ secret, behave: inTurn(500, 404, 204) })
    let later = Date.now()
    const { kept, states } = await deliver(failedParcel(), [v2(to.url)], { secret, now: () => (later += 700) })
    expect(states).toEqual([['delivered', 3, undefined]])
    expect(to.calls).toMatchObject(Array(3).fill({ webhookId: 'job.2', verified: true, stable: true }))
    expect(new Set(to.calls.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3)
    expect(kept.flat()).toMatchObject([
      { status: 'pending', attempts: 1, done: 0, failures: 1, lastError: 'the receiver answered 500' },
      { status: 'pending', attempts: 2, done: 0, failures: 2, lastError: 'the receiver answered 404' },
      { status: 'delivered', attempts: 3, done: 1 },
    ])
  })

  it('is given up after so many attempts', async () => {
    const to = await receiver({ behave: () => 500 })
    const { states } = await deliver(failedParcel(), [v2(to.url)], { attempts: 3 })
    expect(states).toEqual([['failed', 3, 'the receiver answered 500']])
    expect(to.calls).toHaveLength(3)
  })

  it('is given up at once when it answers 410', async () => {
    const to = await receiver({ behave: () => 410 })
    const { states } = await deliver(failedParcel(), [v2(to.url)])
    expect(states).toEqual([['failed', 1, 'the receiver answered 410: it wants no more calls']])
  })

  it('is not looked for where it redirects to', async () => {
    const other = await receiver()
    const to = await receiver({ behave: () => ({ status: 307, headers: { location: other.url } }) })
    const { states } = await deliver(failedParcel(), [v2(to.url)], { attempts: 2 })
    expect(states).toEqual([['failed', 2, 'the receiver answered 307: redirects are not followed']])
    expect(other.calls).toEqual([])
  })

  it.each(['hang', 'deaf'] as const)('that gives no answer is called again: %s', async (behaviour) => {
    const to = await receiver({ behave: inTurn(behaviour, 200) })
    const parcel = await completeParcel([Buffer.alloc(2 ** 20, behaviour)])
    const { kept } = await deliver(parcel, [v2(to.url)], { timeoutMs: 300 })
    expect(kept.flat()).toMatchObject([{ lastError: 'no answer within 0.3 s' }, { status: 'delivered', attempts: 2 }])
  })

  it('that takes a large body slowly is waited for, and a small one not', async () => {
    const sendAt = async (msApiece: number, bytes: number) => {
      const stream: WebhookSettings['stream'] = async (_url, { body }) => {
        for await (const _piece of body) await pause(msApiece)
        return { status: 200, headers: { get: () => null } }
      }
      const parcel = await completeParcel([Buffer.alloc(bytes)])
      return (await deliver(parcel, [v2('http://x.test')], { stream, timeoutMs: 500, attempts: 1 })).states
    }
    expect(await sendAt(10, 2 ** 22)).toEqual([['delivered', 1, undefined]])
    expect(await sendAt(60, 700_000)).toEqual([['failed', 1, 'no answer within 0.5 s']])
  })

  it('that drops the connection in the middle of a body is called again', async () => {
    const to = await receiver({ secret, behave: inTurn('drop', 'drop', 200) })
    const { kept } = await deliver(await completeParcel([Buffer.alloc(2 ** 20, 'drop')]), [v2(to.url)], { secret })
    expect(kept.flat()).toMatchObject([
      { lastError: expect.stringMatching(/^the receiver closed the connection: (ECONNRESET|EPIPE|UND_ERR_SOCKET)$/) },
      { lastError: expect.stringMatching(/^the receiver closed the connection: /) },
      { status: 'delivered' },
    ])
    expect(to.calls.at(-1)).toMatchObject({ verified: true })
  })

  it.each([
    ['http://127.0.0.1:9/hook?token=word', 'connection refused: ECONNREFUSED'],
    ['http://127.0.0.2:9/hook?token=word', /^the URL leads to an address that is not public/],
    ['http://name.test/hook?token=word', "the receiver's name was not found: ENOTFOUND"],
  ])('that cannot be reached costs attempts, and the record does not show its address: %s', async (url, sentence) => {
    const outbound = createOutbound(addressRules(['127.0.0.1']), (_host, _options, done) =>
      done(Object.assign(new Error(`who is ${url}?`), { code: 'ENOTFOUND' }), []),
    )
    const { states } = await deliver(failedParcel(), [{ kind: 'webhook', url }], { ...outbound, attempts: 2 })
    expect(states).toEqual([['failed', 2, expect.stringMatching(sentence)]])
  })

  it('that cannot be connected to costs five seconds at most', async () => {
    const never = () => new Promise<never>(() => undefined)
    const { states } = await deliver(failedParcel(), [v2('http://x.test')], {
      stream: never,
      timeoutMs: 60,
      attempts: 1,
    })
    expect(states).toEqual([['failed', 1, 'no connection within 0.06 s']])
  })

  it('hears of a file that is gone as a failed attempt', async () => {
    const to = await receiver()
    const parcel = await completeParcel()
    await rm(parcel.files[0]!.path)
    for (const settings of [{}, { secret }]) {
      const { states } = await deliver(parcel, [v2(to.url)], { attempts: 1, ...settings })
      expect(states).toEqual([['failed', 1, 'a file of the result could not be read: ENOENT']])
    }
  })

  it('is told nothing of a result without files when it is the plain kind', async () => {
    const to = await receiver()
    const { states } = await deliver(await completeParcel([]), [plain(to.url), v2(to.url)])
    expect(states.map(([status]) => status)).toEqual(['delivered', 'delivered'])
    expect(to.calls.map(({ path }) => path)).toEqual(['/v2'])
  })
})

describe('the wait for the next attempt', () => {
  /** When the attempt after this answer is to be, in milliseconds from it. */
  async function waitAfter(behaviour: Behaviour, settings: Partial<WebhookSettings> = {}) {
    const to = await receiver({ behave: () => behaviour })
    const stop = new AbortController()
    const waits: number[] = []
    const keep = async ([state]: readonly DeliveryState[]) => {
      waits.push(state!.nextAttempt! - 1_764_000_000_000)
      stop.abort(new Error('seen'))
    }
    const webhooks = webhooksWith({ now: () => 1_764_000_000_000, scheduleMs: [0, 1000, 5000], ...settings })
    const destinations = [v2(to.url)]
    const delivery = webhooks.deliver(failedParcel(), destinations, destinations.map(fresh), keep, stop.signal)
    await expect(delivery).rejects.toThrow('seen')
    return waits[0]
  }
  const asking = (status: number, after: string) => ({ status, headers: { 'retry-after': after } })

  it('follows the schedule, a fifth more or less, and repeats its last', async () => {
    expect(await waitAfter(500)).toBe(1000)
    expect(await waitAfter(500, { random: () => 0 })).toBe(800)
    expect(await waitAfter(500, { random: () => 1 })).toBe(1200)
    expect(await waitAfter(500, { scheduleMs: [40] })).toBe(40)
  })

  it('is as long as an overloaded receiver asks for, a quarter of an hour at most', async () => {
    const date = new Date(1_764_000_060_000).toUTCString()
    expect(await waitAfter(asking(503, '30'))).toBe(30_000)
    expect(await waitAfter(asking(429, date))).toBe(60_000)
    expect(await waitAfter(asking(429, '7200'))).toBe(900_000)
    expect(await waitAfter(asking(503, '0'))).toBe(1000)
    expect(await waitAfter(asking(503, 'soon'))).toBe(1000)
    expect(await waitAfter(asking(500, '30'))).toBe(1000)
  })

  it('is finished after a restart, and attempts from before count', async () => {
    const to = await receiver({ behave: () => 500 })
    const now = Date.now()
    const before: DeliveryState = {
      ...{ kind: 'webhook_v2', status: 'pending', attempts: 3, done: 0, failures: 3 },
      ...{ nextAttempt: now + 150, lastError: 'x' },
    }
    const { states } = await deliver(failedParcel(), [v2(to.url)], { states: [before] })
    expect(states).toEqual([['failed', 4, 'the receiver answered 500']])
    expect(to.calls).toHaveLength(1)
    expect(to.calls[0]!.at).toBeGreaterThanOrEqual(now + 145)
  })
})

describe('several calls', () => {
  it('go on after a restart with the first file that was not delivered', async () => {
    const to = await receiver({ behave: inTurn(200, 500, 200) })
    const parcel = await completeParcel(['one', 'two', 'three'])
    const stop = new AbortController()
    const kept: (readonly DeliveryState[])[] = []
    const keep = async (states: readonly DeliveryState[]) => {
      kept.push(JSON.parse(JSON.stringify(states)))
      if (kept.length === 2) stop.abort(new Error('killed'))
    }
    const destinations = [plain(to.url)]
    const webhooks = webhooksWith()
    const first = webhooks.deliver(parcel, destinations, destinations.map(fresh), keep, stop.signal)
    await expect(first).rejects.toThrow('killed')
    const { ended } = await deliver(parcel, destinations, { states: kept.at(-1)! })
    expect(ended).toMatchObject([{ status: 'delivered', attempts: 4, done: 3 }])
    const names = to.calls.map(({ body }) => String(body!.filename).slice(-6, -5))
    expect(names).toEqual(['1', '2', '2', '3'])
  })

  it('count failed attempts for each file alone', async () => {
    const to = await receiver({ behave: inTurn(500, 200, 500, 200, 500, 200) })
    const { states } = await deliver(await completeParcel(['one', 'two', 'three']), [plain(to.url)], { attempts: 2 })
    expect(states).toEqual([['delivered', 6, undefined]])
  })

  it('are followed by the word of failure when a repeated run ends with one', async () => {
    const to = await receiver()
    const states = [{ kind: 'webhook', status: 'pending', attempts: 2, done: 2 }] as const
    await deliver(failedParcel(), [plain(to.url)], { states })
    expect(to.calls.map(({ event }) => event)).toEqual(['prompt.failed'])
  })
})

describe('two destinations', () => {
  it('do not wait for each other', async () => {
    const slow = await receiver({ behave: () => 'hang' })
    const quick = await receiver({ behave: inTurn(500, 200) })
    const destinations = [v2(slow.url), plain(quick.url)]
    const { kept, states } = await deliver(failedParcel(), destinations, { timeoutMs: 500, attempts: 2 })
    expect(kept.slice(0, 2)).toMatchObject([
      [{ attempts: 0 }, { status: 'pending', attempts: 1 }],
      [{ attempts: 0 }, { status: 'delivered', attempts: 2 }],
    ])
    expect(states.map(([status]) => status)).toEqual(['failed', 'delivered'])
  })

  it('leave alone what has ended before', async () => {
    const to = await receiver()
    const states = [
      { kind: 'webhook_v2', status: 'failed', attempts: 4, done: 0, lastError: 'x' },
      { kind: 'webhook', status: 'delivered', attempts: 1, done: 1 },
    ] as const
    const { ended } = await deliver(failedParcel(), [v2(to.url), plain(to.url)], { states })
    expect(ended).toEqual(states)
    expect(to.calls).toEqual([])
  })

  it('both end when what was done cannot be noted', async () => {
    const silent = await receiver({ behave: () => 'hang' })
    const to = await receiver()
    const destinations = [v2(silent.url), plain(to.url)]
    const keep = () => Promise.reject(new Error('the hold is lost'))
    const { signal } = new AbortController()
    const delivery = webhooksWith().deliver(failedParcel(), destinations, destinations.map(fresh), keep, signal)
    await expect(delivery).rejects.toThrow('the hold is lost')
  })
})

describe('the log and the counts', () => {
  it('tell of each attempt what an operator needs, and nothing of the query', async () => {
    const to = await receiver({ behave: inTurn({ status: 503, headers: { 'retry-after': '0' } }, 200, 410) })
    const lines: unknown[] = []
    const counts: unknown[] = []
    const note = (level: string) => (facts: object, message: string) => void lines.push({ level, ...facts, message })
    const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
    const onAttempt: WebhookSettings['onAttempt'] = (...count) => void counts.push(count)
    const destination = { kind: 'webhook_v2', url: `${to.url.replace('//', '//user:word@')}/hook?token=word` } as const
    for (let i = 0; i < 2; i++) await deliver(failedParcel(), [destination], { log, onAttempt, secret })
    const about = { id: 'job', kind: 'webhook_v2', host: new URL(to.url).host, ms: expect.any(Number) }
    expect(lines).toEqual([
      {
        ...{ level: 'warn', message: 'webhook not delivered: it will be tried again', ...about },
        ...{ attempt: 1, status: 503, error: 'the receiver answered 503', wait: 10 },
      },
      { level: 'info', message: 'webhook delivered', ...about, attempt: 2, status: 200 },
      {
        ...{ level: 'error', message: 'webhook not delivered: this was the last attempt', ...about },
        ...{ attempt: 1, status: 410, error: 'the receiver answered 410: it wants no more calls' },
      },
    ])
    expect(counts.map(String)).toEqual(['webhook_v2,failed', 'webhook_v2,ok', 'webhook_v2,failed'])
    expect(JSON.stringify(lines)).not.toMatch(`word|${secret}`)
  })

  it('leaves no rejection unhandled', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const to = await receiver({ behave: inTurn('drop', 'deaf', 'hang', 410) })
    await deliver(await completeParcel([Buffer.alloc(2 ** 20)]), [v2(to.url)], { timeoutMs: 50 })
    await pause(50)
    expect(unhandled).toEqual([])
  })
})
