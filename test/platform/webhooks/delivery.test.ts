import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Log } from '../../../src/common/log.ts'
import { createWebhookDelivery, type WebhookDeliverySettings } from '../../../src/platform/webhooks/delivery.ts'
import { replaceWebhookSecret, webhookSecretOf } from '../../../src/platform/webhooks/secret.ts'
import { addTenant, platformDatabase, type Tenant } from '../../support/platform-database.ts'
import { inTurn, receiver } from '../../support/receiver.ts'
import { listen } from '../../support/site.ts'

const database = platformDatabase()
let tenants = 0
let acme: Tenant

beforeEach(async () => {
  acme = await addTenant(database().db, `acme-${++tenants}`)
})

const organizationId = () => acme.organization.id
const messages = () => database().db.selectFrom('webhook_messages').selectAll().execute()

/** Stores a message as whoever ends a job does. */
async function store(url: string, id = `msg_${tenants}`) {
  const data = { id: `job-of-${id}`, status: 'succeeded' }
  const body = JSON.stringify({ type: 'queue.job.succeeded', timestamp: '2025-01-01T00:00:00.000Z', data })
  const time = new Date()
  await database()
    .db.insertInto('webhook_messages')
    .values({ id, organization_id: organizationId(), url, body, next_attempt: time, create_time: time })
    .execute()
  return { id, body }
}

/** A process that delivers, until the end of the test or before; the lines of its log are kept. */
function delivery(settings: Partial<WebhookDeliverySettings> = {}, now: () => number = Date.now, isAlone = false) {
  const lines: { readonly level: string; readonly text: string; readonly wait?: unknown }[] = []
  const tell = (level: string) => (facts: Readonly<Record<string, unknown>>, text: string) =>
    lines.push({ level, text, ...facts })
  const log: Log = { debug: tell('debug'), info: tell('info'), warn: tell('warn'), error: tell('error') }
  const started = createWebhookDelivery({ db: database().db, now, log, isAlone, settings: { pollMs: 50, ...settings } })
  started.open()
  let closed: Promise<void> | undefined
  const close = () => (closed ??= started.close())
  onTestFinished(close)
  return { ...started, close, lines }
}

describe('a call', () => {
  it('is signed with the secret of the organization, which the first call makes', async () => {
    const { url, calls } = await receiver()
    const { id, body } = await store(`${url}/done?x=1`)
    delivery()
    await expect.poll(messages).toEqual([])
    const secret = await webhookSecretOf(database().db, organizationId())
    expect(Buffer.from(secret, 'base64')).toHaveLength(32)
    expect(calls).toMatchObject([{ path: '/done?x=1', webhookId: id, raw: body }])
    const { headers } = calls[0]!
    expect(headers['content-type']).toBe('application/json')
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
  })

  it('is signed anew for each attempt: a new secret counts at once', async () => {
    const { url, calls } = await receiver({ behave: inTurn(500, 200) })
    const { id, body } = await store(url)
    let time = Date.now()
    const running = delivery({ waitsMs: [0, 5000] }, () => time)
    await expect.poll(() => running.lines).toMatchObject([{ level: 'warn', wait: 5000 }])
    const secret = await replaceWebhookSecret(database().db, organizationId())
    await expect.poll(messages).toMatchObject([{ attempts: 1 }])
    time += 5000
    running.wake()
    await expect.poll(messages).toEqual([])
    expect(calls.map(({ webhookId, raw }) => [webhookId, raw])).toEqual([
      [id, body],
      [id, body],
    ])
    const [first, second] = calls.map(({ headers }) => headers as Record<string, string>)
    expect(Number(second?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])).toBe(5)
    expect(() => new Webhook(secret).verify(body, second!)).not.toThrow()
    expect(() => new Webhook(secret).verify(body, first!)).toThrow()
  })

  it('succeeds with any 2xx', async () => {
    const { url, calls } = await receiver({ behave: () => 299 })
    await store(url)
    delivery()
    await expect.poll(messages).toEqual([])
    expect(calls).toHaveLength(1)
  })

  it.each([
    ['another status', 404 as const, 'the receiver answered 404'],
    ['a redirect, which is not followed', { status: 307, headers: { location: '/other' } }, 'redirects are not'],
    ['a connection that breaks', 'drop' as const, 'the receiver was not reached: '],
    ['no answer in time', 'hang' as const, 'no answer within 0.1 s'],
  ])('fails by %s', async (_what, behaviour, reason) => {
    const { url, calls } = await receiver({ behave: () => behaviour })
    await store(`${url}/?token=hidden`)
    const { lines, close } = delivery({ timeoutMs: behaviour === 'hang' ? 100 : 5000, waitsMs: [0, 60_000] })
    await expect.poll(() => lines).toMatchObject([{ level: 'warn', reason: expect.stringContaining(reason) }])
    await close()
    expect(calls.map(({ path }) => path)).toEqual(['/?token=hidden'])
    expect(JSON.stringify(lines)).not.toContain('hidden')
    await database().db.deleteFrom('webhook_messages').execute()
  })

  it('is not made to an address that is not public, where that is set', async () => {
    const { url, calls } = await receiver()
    await store(url, 'by address')
    await store(url.replace('127.0.0.1', 'localhost'), 'by name')
    const { lines } = delivery({ blockPrivate: true, waitsMs: [0] })
    await expect.poll(messages).toEqual([])
    const refused = { level: 'error', reason: 'the URL leads to an address that is not public' }
    expect(lines).toMatchObject([refused, refused])
    expect(calls).toEqual([])
  })
})

describe('delivery', () => {
  it('makes eight attempts with growing waits, then gives up and tells so', async () => {
    const { url, calls } = await receiver({ behave: () => 503 })
    const { id } = await store(url)
    let time = Date.now()
    const { lines, wake } = delivery({}, () => time)
    const waits: unknown[] = []
    for (let made = 1; made < 8; made++) {
      await expect.poll(async () => (await messages())[0]?.attempts).toBe(made)
      const wait = Number(lines.at(-1)?.wait)
      waits.push(wait / 1000)
      time += wait - 1
      wake()
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(calls).toHaveLength(made)
      time += 1
      wake()
    }
    await expect.poll(messages).toEqual([])
    expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000])
    expect(calls).toHaveLength(8)
    expect(new Set(calls.map(({ raw }) => raw)).size).toBe(1)
    expect(lines.at(-1)).toMatchObject({ level: 'error', id, attempt: 8 })
    const entries = database().db.selectFrom('log_entries').selectAll().where('organization_id', '=', organizationId())
    expect(await entries.execute()).toMatchObject([
      {
        severity: 'error',
        resource_type: 'webhook',
        labels: { webhook_id: id, job_id: `job-of-${id}` },
        text_log: 'Webhook not delivered after 8 attempts: the receiver answered 503',
      },
    ])
  })

  it('goes on after a restart where it was', async () => {
    const { url, calls } = await receiver({ behave: inTurn(500, 'hang', 200) })
    const { id } = await store(url)
    const first = delivery({ waitsMs: [0, 0, 0] })
    await expect.poll(() => calls.length).toBe(2)
    await first.close()
    expect(await messages()).toMatchObject([{ id, attempts: 1 }]) // what was broken off does not count
    const second = delivery({ waitsMs: [0, 0, 0] })
    await expect.poll(messages).toEqual([])
    expect(second.lines).toMatchObject([{ level: 'info', attempt: 2 }])
    expect(new Set(calls.map(({ webhookId }) => webhookId))).toEqual(new Set([id]))
  })

  it('is shared by processes: each message is sent once, and so many at a time', async () => {
    const seen: unknown[] = []
    let open = 0
    let most = 0
    const { url } = await listen((request, response) => {
      seen.push(request.headers['webhook-id'])
      most = Math.max(most, ++open)
      setTimeout(() => {
        open--
        response.end()
      }, 20)
    })
    const stored = await Promise.all(Array.from({ length: 20 }, (_, i) => store(url, `shared_${i}`)))
    delivery({ concurrency: 2 })
    delivery({ concurrency: 2 })
    await expect.poll(messages).toEqual([])
    expect(seen.sort()).toEqual(stored.map(({ id }) => id).sort())
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(4)
  })

  it('finds what another process has stored, without being woken', async () => {
    const { url, calls } = await receiver()
    delivery()
    await store(url)
    await expect.poll(() => calls.length).toBe(1)
    await expect.poll(messages).toEqual([])
  })

  it('sends at once what a process that died was sending, when no other can be', async () => {
    const { url, calls } = await receiver({ behave: inTurn('hang', 200) })
    await store(url)
    delivery({ timeoutMs: 20_000 }) // silent from now on, as a process that died
    await expect.poll(() => calls.length).toBe(1)
    delivery({ timeoutMs: 20_000 }, Date.now, true)
    await expect.poll(messages).toEqual([])
    expect(new Set(calls.map(({ webhookId }) => webhookId)).size).toBe(1)
  })

  it('takes over from a process that died, after a while', async () => {
    const { url, calls } = await receiver({ behave: inTurn('hang', 200) })
    await store(url)
    let time = Date.now()
    const dead = delivery({ timeoutMs: 20_000 }, () => time)
    await expect.poll(() => calls.length).toBe(1)
    const other = delivery({ timeoutMs: 20_000 }, () => time)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(calls).toHaveLength(1)
    time += 65_000
    other.wake()
    await expect.poll(messages).toEqual([])
    expect(calls).toHaveLength(2)
    await dead.close()
  })
})
