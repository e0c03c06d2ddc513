import { lookup } from 'node:dns'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Log, silentLog } from '../../../src/common/log.ts'
import { systemEventsSchema } from '../../../src/contracts/system-event.ts'
import type { SystemEvent } from '../../../src/workload/delivery/event-lines.ts'
import { retrySchedule } from '../../../src/workload/delivery/retry-schedule.ts'
import { signingKeys } from '../../../src/workload/delivery/signature.ts'
import { createSystemWebhook, type SystemWebhookOptions } from '../../../src/workload/delivery/system-webhook.ts'
import { addressRules } from '../../../src/workload/media/address-rules.ts'
import { createOutbound } from '../../../src/workload/media/outbound.ts'
import { inTurn, receiver } from '../../support/receiver.ts'

const secret = Buffer.from('a key of some length').toString('base64')

/** Calls `url`, trying each event three times. Closed at once when the test ends. */
function webhookTo(url: string, options: Partial<SystemWebhookOptions> = {}) {
  let dropped = 0
  const webhook = createSystemWebhook({
    url,
    events: systemEventsSchema.parse(['all']),
    metadata: { region: 'north' },
    keys: [],
    schedule: retrySchedule([0, 10], () => 0.5),
    attempts: 3,
    timeoutMs: 2000,
    stream: createOutbound(addressRules(['127.0.0.1']), lookup).stream,
    now: Date.now,
    onDropped: () => void dropped++,
    log: silentLog,
    ...options,
  })
  onTestFinished(() => webhook.close(0))
  return { ...webhook, dropped: () => dropped }
}

const executing = (node: string, line = 'a'): SystemEvent => ({ event: 'comfy.executing', data: { node }, line })
const progress = (value: number, line = 'a'): SystemEvent => ({
  event: 'comfy.progress',
  data: { value },
  line,
  replaces: 'progress',
})
const dataOf = ({ body }: { readonly body?: Readonly<Record<string, unknown>> }) =>
  body?.data as Readonly<Record<string, unknown>>

describe('a system event', () => {
  it('comes with the metadata, under an id of its own, with a signature that verifiers accept', async () => {
    const { url, calls } = await receiver()
    const webhook = webhookTo(url, { keys: signingKeys(`whsec_${secret}`) })
    webhook.tell(executing('1'))
    webhook.tell(executing('2'))
    await webhook.close(2000)
    expect(calls.map(({ body }) => body)).toEqual([
      { event: 'comfy.executing', data: { node: '1' }, metadata: { region: 'north' } },
      { event: 'comfy.executing', data: { node: '2' }, metadata: { region: 'north' } },
    ])
    for (const { raw, headers } of calls)
      expect(() => new Webhook(secret).verify(raw!, headers as Record<string, string>)).not.toThrow()
    const ids = calls.map(({ webhookId }) => webhookId!)
    expect(ids[0]).not.toBe(ids[1])
    expect(ids[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4/)
  })

  it('has no signature where there is no secret, and a name and a password of the URL in a header', async () => {
    const { url, calls } = await receiver()
    const webhook = webhookTo(url.replace('://', '://me:p%40ss@'))
    webhook.tell(executing('1'))
    await webhook.close(2000)
    expect(calls[0]!.headers).not.toHaveProperty('webhook-signature')
    expect(calls[0]!.headers.authorization).toBe(`Basic ${btoa('me:p@ss')}`)
  })

  it('is told only if it is wanted', async () => {
    const { url, calls } = await receiver()
    const webhook = webhookTo(url, { events: ['comfy.progress'] })
    webhook.tell(executing('1'))
    webhook.tell(progress(1))
    await webhook.close(2000)
    expect(calls.map(({ event }) => event)).toEqual(['comfy.progress'])
    expect(webhook.dropped()).toBe(0)
  })

  it('is tried again under the same id, before what comes after it in its prompt', async () => {
    const { url, calls } = await receiver({ behave: inTurn(503, 'drop', 200) })
    const webhook = webhookTo(url)
    for (const node of ['1', '2', '3']) webhook.tell(executing(node))
    await expect.poll(() => calls.length).toBe(5)
    await webhook.close(2000)
    expect(calls.slice(2).map(dataOf)).toEqual([{ node: '1' }, { node: '2' }, { node: '3' }])
    expect(new Set(calls.slice(0, 3).map(({ webhookId }) => webhookId)).size).toBe(1)
    expect(webhook.dropped()).toBe(0)
  })

  it('of one prompt does not wait for the events of another', async () => {
    const { url, calls } = await receiver({ behave: inTurn('hang', 200) })
    const webhook = webhookTo(url)
    webhook.tell(executing('1', 'stuck'))
    await expect.poll(() => calls.length).toBe(1)
    for (const node of ['1', '2']) webhook.tell(executing(node, 'free'))
    await expect.poll(() => calls.slice(1).map(dataOf)).toEqual([{ node: '1' }, { node: '2' }])
  })

  it('that is refused is dropped at once and counted, and the next is told', async () => {
    const { url, calls } = await receiver({ behave: inTurn(400, 200) })
    const webhook = webhookTo(url)
    webhook.tell(executing('1'))
    webhook.tell(executing('2'))
    await webhook.close(2000)
    expect([calls.length, webhook.dropped()]).toEqual([2, 1])
  })
})

describe('progress', () => {
  it('that was not told yet gives way to newer progress, in its place among the other events', async () => {
    const { url, calls } = await receiver({ behave: inTurn('hang', 200) })
    const webhook = webhookTo(url, { timeoutMs: 100 })
    webhook.tell(executing('1'))
    await expect.poll(() => calls.length).toBe(1)
    webhook.tell(progress(1))
    webhook.tell(executing('2'))
    webhook.tell(progress(2))
    webhook.tell(progress(3))
    await webhook.close(2000)
    expect(calls.slice(1).map(dataOf)).toEqual([{ node: '1' }, { node: '2' }, { value: 3 }])
    expect(webhook.dropped()).toBe(0)
  })

  it('of a prompt is told at most four times a second, and ends with the newest', async () => {
    const { url, calls } = await receiver()
    const webhook = webhookTo(url)
    const began = performance.now()
    for (let value = 1; value <= 30; value++) {
      webhook.tell(progress(value))
      await pause(20)
    }
    await webhook.close(2000)
    expect(calls.length).toBeLessThanOrEqual(1 + (performance.now() - began) / 240)
    expect(calls.length).toBeGreaterThan(2)
    expect(dataOf(calls.at(-1)!)).toEqual({ value: 30 })
  })

  it('is dropped before anything else when too much waits, and counted', async () => {
    const { url, calls } = await receiver({ behave: () => 'hang' })
    const webhook = webhookTo(url)
    webhook.tell(executing('first'))
    await expect.poll(() => calls.length).toBe(1)
    for (let i = 0; i < 10; i++) webhook.tell({ ...progress(i), replaces: `progress ${i}` })
    for (let i = 0; i < 1000; i++) webhook.tell(executing(`${i}`))
    expect(webhook.dropped()).toBe(10)
    for (let i = 0; i < 5; i++) webhook.tell(executing(`late ${i}`))
    expect(webhook.dropped()).toBe(15)
  })
})

describe('a receiver that is gone', () => {
  it('is given up event by event, and tells the log once that it is gone and once that it is back', async () => {
    const lines: unknown[] = []
    const write: Log['warn'] = (facts, message) => void lines.push({ ...facts, message })
    const { url, calls } = await receiver({ behave: inTurn('drop', 'drop', 'drop', 'drop', 'drop', 'drop', 200) })
    const webhook = webhookTo(`${url}/hook?key=planted`, { log: { ...silentLog, warn: write, info: write } })
    for (const node of ['1', '2', '3']) webhook.tell(executing(node))
    await expect.poll(() => calls.length).toBe(7)
    await webhook.close(2000)
    expect(webhook.dropped()).toBe(2)
    expect(lines).toMatchObject([
      { message: 'the receiver of system events cannot be told' },
      { message: 'the receiver of system events is told again' },
    ])
    expect(JSON.stringify(lines)).not.toContain('planted')
  })

  it('keeps a server from ending only as long as it may, and what is left is counted', async () => {
    const { url } = await receiver({ behave: () => 'hang' })
    const webhook = webhookTo(url)
    for (let i = 0; i < 20; i++) webhook.tell(progress(i, `prompt ${i}`))
    const began = performance.now()
    await webhook.close(50)
    expect(performance.now() - began).toBeLessThan(1000)
    expect(webhook.dropped()).toBe(20)
  })
})

describe('the events that an operator wants', () => {
  it('are named with or without what stands before the dot, or all at once', () => {
    expect(systemEventsSchema.parse(['progress', 'storage.file_deleted'])).toEqual([
      'comfy.progress',
      'storage.file_deleted',
    ])
    expect(systemEventsSchema.parse(['all'])).toHaveLength(13)
    expect(systemEventsSchema.parse([])).toEqual([])
  })

  it('must all be known, and every one that is not is told', () => {
    const { error } = systemEventsSchema.safeParse(['progress', 'comfy.nope', 'all', 'storage.progress'])
    expect(error?.issues[0]?.message).toMatch(/^unknown: comfy\.nope, storage\.progress; there are all, comfy\.status/)
  })
})
