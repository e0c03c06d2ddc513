import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { describe, expect, it } from 'vitest'
import type { Destination, Parcel } from '../../../src/workload/delivery/parcel.ts'
import type { WebhookSettings } from '../../../src/workload/delivery/webhooks.ts'
import { inTurn, receiver } from '../../support/receiver.ts'
import { completeParcel, failedParcel, fresh, webhooksWith } from '../../support/webhooks.ts'

const { signal } = new AbortController()

/** What a receiver got of a parcel. */
async function told(parcel: Parcel, kind: Destination['kind'], settings: Partial<WebhookSettings> = {}) {
  const to = await receiver({ behave: inTurn(500, 200) })
  const destination = { kind, url: `${to.url}/hook?key=1` }
  const webhooks = webhooksWith(settings)
  const [state] = await webhooks.deliver(parcel, [destination], [fresh(destination)], async () => undefined, signal)
  expect(state).toMatchObject({ status: 'delivered' })
  return to.calls
}
const base64 = (text: string) => Buffer.from(text).toString('base64')
const keys = ['MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', base64('another key of some length')] as const

describe('a signed call', () => {
  it('carries everything of a finished prompt, and is the same in every attempt', async () => {
    const parcel = await completeParcel(['one', 'no. 2', ''])
    const [first, second] = await told(parcel, 'webhook_v2', { secret: keys[0] })
    expect(second!.body).toEqual({
      type: 'prompt.complete',
      timestamp: '2025-11-24T12:00:00.000Z',
      ...parcel.head,
      images: [base64('one'), base64('no. 2'), ''],
    })
    expect(Object.keys(second!.body!).slice(-5)).toEqual(['id', 'prompt', 'images', 'filenames', 'stats'])
    expect(first!.raw).toBe(second!.raw)
    for (const { headers, path } of [first!, second!]) {
      expect(path).toBe('/hook?key=1')
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': 'job' })
      expect(Number(headers['webhook-timestamp'])).toBeCloseTo(Date.now() / 1000, -1)
    }
  })

  it.each([
    ['bare', keys[0], [keys[0]]],
    ['prefixed', `whsec_${keys[0]}`, [keys[0], `whsec_${keys[0]}`]],
    ['while the secret is being changed', ` whsec_${keys[1]}\n ${keys[0]} `, keys],
  ])('is verified by receivers, also over the body that they have parsed: %s', async (_name, secret, known) => {
    for (const parcel of [await completeParcel(['pixels', 'of another']), failedParcel()]) {
      const calls = await told(parcel, 'webhook_v2', { secret })
      for (const { headers, raw, body } of calls)
        for (const key of known)
          for (const verifier of [new StandardWebhook(key), new SvixWebhook(key)])
            for (const text of [raw!, JSON.stringify(body)])
              expect(verifier.verify(text, headers as Record<string, string>)).toEqual(body)
      expect(calls[0]!.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$/)
      expect(calls[0]!.headers['webhook-signature']!).toHaveLength(secret.trim().includes('\n') ? 95 : 47)
    }
  })

  it('has no signature without a secret', async () => {
    const [call] = await told(failedParcel(), 'webhook_v2')
    const { headers } = call!
    expect(headers).toHaveProperty('webhook-id', 'job.2')
    expect(headers).toHaveProperty('webhook-timestamp')
    expect(headers).not.toHaveProperty('webhook-signature')
  })

  it('tells of a failure with its code and place', async () => {
    const parcel = failedParcel()
    const [, call] = await told(parcel, 'webhook_v2')
    expect(call!.body).toEqual({
      type: 'prompt.failed',
      timestamp: '2025-11-24T12:00:00.000Z',
      id: 'job',
      prompt: parcel.prompt,
      error: 'node 9 (SaveImage) failed: no space',
      code: 'execution-failed',
      location: 'prompt.9',
      node_id: '9',
      node_type: 'SaveImage',
      problem: parcel.problem,
    })
  })

  it('carries URLs when the files were uploaded', async () => {
    const urls = ['s3://bucket/a.png']
    const [, call] = await told({ ...(await completeParcel()), urls }, 'webhook_v2', { maxBytes: 1 })
    expect(call!.body).toMatchObject({ images: urls, warnings: ['”quoted\u2028'] })
  })
})

describe('a plain call', () => {
  it('is made for each file in order, and carries neither id nor signature', async () => {
    const parcel = await completeParcel(['one', 'two'])
    const calls = await told(parcel, 'webhook', { secret: keys[0] })
    const { prompt, stats } = parcel.head
    const about = (i: number, image: string) => ({
      ...{ event: 'output.complete', image: base64(image), id: 'job' },
      ...{ filename: parcel.files[i]!.filename, prompt, stats },
    })
    expect(calls.map(({ body }) => body)).toEqual([about(0, 'one'), about(0, 'one'), about(1, 'two')])
    expect(Object.keys(calls[0]!.headers).filter((name) => name.startsWith('webhook'))).toEqual([])
  })

  it('carries URLs when the files were uploaded, and one sentence when the prompt failed', async () => {
    const urls = ['s3://bucket/a.png']
    const [, call] = await told({ ...(await completeParcel()), urls }, 'webhook')
    expect(call!.body).toMatchObject({ event: 'output.complete', image: urls[0] })
    const { prompt } = failedParcel()
    const error = 'node 9 (SaveImage) failed: no space'
    expect((await told(failedParcel(), 'webhook'))[1]!.body).toEqual({
      event: 'prompt.failed',
      id: 'job',
      prompt,
      error,
    })
  })
})

describe('a result that is too large for a call', () => {
  const destination = (kind: Destination['kind']) => ({ kind, url: 'http://127.0.0.1/' })
  const maxBytes = 2000

  it('is linked to where clients can reach the server', async () => {
    const parcel = await completeParcel(['small', 'x'.repeat(2000)])
    const settings = { maxBytes, publicUrl: 'https://easel.test/base/' }
    const links = [0, 1].map((i) => `https://easel.test/base/jobs/job/outputs/${i}`)
    const [, signed] = await told(parcel, 'webhook_v2', settings)
    const warning = 'the images are too large for a call: images has links to them'
    expect(signed!.body).toMatchObject({ type: 'prompt.complete', images: links, warnings: ['”quoted\u2028', warning] })
    const [, small, large] = await told(parcel, 'webhook', settings)
    expect([small!.body!.image, large!.body!.image]).toEqual([base64('small'), links[1]])
    expect(webhooksWith(settings).tooLarge(parcel, [destination('webhook')])).toBe('links')
  })

  it('is refused elsewhere, with what to do', async () => {
    const parcel = await completeParcel(['small', 'x'.repeat(2000)])
    const calls = await told(parcel, 'webhook_v2', { maxBytes })
    expect(calls.at(-1)!.body).toMatchObject({
      type: 'prompt.failed',
      code: 'result-too-large',
      error: expect.stringMatching(/ask for an upload.*PUBLIC_URL/),
      prompt: parcel.head.prompt,
      problem: { status: 413 },
    })
    expect((await told(parcel, 'webhook', { maxBytes })).map(({ body }) => body!.event)).toEqual([
      'prompt.failed',
      'prompt.failed',
    ])
    expect(webhooksWith({ maxBytes }).tooLarge(parcel, [destination('webhook_v2')])).toBe('refused')
  })

  it('is neither while it fits', async () => {
    const parcel = await completeParcel(['small', 'x'.repeat(1000)])
    const both = [destination('webhook_v2'), destination('webhook')]
    expect(webhooksWith({ maxBytes }).tooLarge(parcel, both.slice(1))).toBeUndefined()
    expect(webhooksWith({ maxBytes: 10 * maxBytes }).tooLarge(parcel, both)).toBeUndefined()
    expect(webhooksWith({ maxBytes: 1 }).tooLarge({ ...parcel, urls: ['a', 'b'] }, both)).toBeUndefined()
    expect(webhooksWith({ maxBytes: 1 }).tooLarge(failedParcel(), both)).toBeUndefined()
  })
})

describe('a secret that is not base64', () => {
  it.each(['not base64!', 'whsec_', 'abcde', 'a_b-', 'ab=c', `${keys[0]} ä`])('stops the start: %j', (secret) => {
    expect(() => webhooksWith({ secret })).toThrow(/^WEBHOOK_SECRET: .*secret.* is not base64/)
  })

  it('is not shown', () => {
    expect(() => webhooksWith({ secret: `${keys[0]} secret-word` })).toThrow(/^(?!.*secret-word).*secret 2 of 2/)
  })
})
