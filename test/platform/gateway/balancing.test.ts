import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Target } from '../../../src/platform/gateway/group.ts'
import { answerOf, ask, begin, deafPort, gatewayTo, instance } from '../../support/gateway.ts'

/** An instance that holds every request until it is told to answer, with its id. */
async function holding(id: string) {
  const held: { readonly url: string | undefined; readonly answer: () => void }[] = []
  const answer = ({ url }: IncomingMessage, response: ServerResponse) =>
    held.push({ url, answer: () => response.end(id) })
  return { ...(await instance(id, answer)), held }
}

const bodies = async (port: number, times: number) => {
  const seen: string[] = []
  for (let i = 0; i < times; i++) seen.push((await ask(port)).body)
  return seen.join('')
}

describe('whose turn it is', () => {
  it('round robin: ready instances in turn, whoever comes and goes', async () => {
    const [a, b, c] = [await instance('a'), await instance('b'), await instance('c')]
    let ready: readonly Target[] = [a, b]
    const port = await gatewayTo(() => ready)
    expect(await bodies(port, 4)).toBe('abab')
    ready = [a, b, c]
    expect(await bodies(port, 6)).toBe('cabcab')
    ready = [a, c]
    expect(await bodies(port, 4)).toBe('caca')
  })

  it('least connections: who has the fewest open requests, ties in turn', async () => {
    const [a, b] = [await holding('a'), await instance('b')]
    const port = await gatewayTo([a, b], { load_balancer: 'least_number_of_connections' })
    const first = ask(port)
    await expect.poll(() => a.held.length).toBe(1)
    expect(await bodies(port, 3)).toBe('bbb')
    a.held[0]?.answer()
    expect((await first).body).toBe('a')
    const again = ask(port)
    await expect.poll(() => a.held.length).toBe(2)
    a.held[1]?.answer()
    expect((await again).body).toBe('a')
    expect(await bodies(port, 1)).toBe('b')
  })

  it('a refused connection is tried on another instance', async () => {
    const port = await gatewayTo([{ id: 'deaf', port: await deafPort() }, await instance('b'), await instance('c')])
    expect(await bodies(port, 6)).toMatch(/^[bc]{6}$/)
  })
})

describe('one connection an instance', () => {
  const single = { single_connection_limit: true, client_request_timeout: 20_000 }

  /** Counts requests that have arrived: from then on they hold a place or wait. */
  function counter() {
    let count = 0
    const onArrival = () => {
      count++
    }
    return { onArrival, arrived: (times: number) => expect.poll(() => count, { interval: 5 }).toBe(times) }
  }

  it('lets the others wait in the order of their arrival', async () => {
    const [a, b] = [await holding('a'), await holding('b')]
    const { onArrival, arrived } = counter()
    const port = await gatewayTo([a, b], single, { onArrival })
    const asked: ReturnType<typeof ask>[] = []
    for (const number of [1, 2, 3, 4, 5]) {
      asked.push(ask(port, { path: `/${number}` }))
      await arrived(number)
    }
    await expect.poll(() => [a, b].map(({ held }) => held.map(({ url }) => url))).toEqual([['/1'], ['/2']])
    b.held[0]?.answer()
    await expect.poll(() => b.held.length).toBe(2)
    a.held[0]?.answer()
    await expect.poll(() => a.held.length).toBe(2)
    expect([a, b].map(({ held }) => held.at(-1)?.url)).toEqual(['/4', '/3'])
    b.held[1]?.answer()
    await expect.poll(() => b.held.length).toBe(3)
    for (const { held } of [a, b]) held.at(-1)?.answer()
    expect((await Promise.all(asked)).map(({ body }) => body).join('')).toBe('abbab')
  })

  it('504 after the wait', async () => {
    const a = await holding('a')
    const port = await gatewayTo([a], { ...single, client_request_timeout: 60 })
    const first = ask(port)
    await expect.poll(() => a.held.length).toBe(1)
    const { status, body } = await ask(port)
    expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 504, title: 'Gateway Timeout' })
    a.held[0]?.answer()
    await first
  })

  it('a client that goes away while it waits gives its turn to the next', async () => {
    const a = await holding('a')
    const { onArrival, arrived } = counter()
    const port = await gatewayTo([a], single, { onArrival })
    const first = ask(port)
    await expect.poll(() => a.held.length).toBe(1)
    const leaving = new AbortController()
    const impatient = begin(port, { path: '/impatient', signal: leaving.signal }).end()
    const gone = once(impatient, 'error')
    await arrived(2)
    const third = ask(port, { path: '/third' })
    await arrived(3)
    leaving.abort()
    await gone
    a.held[0]?.answer()
    await first
    await expect.poll(() => a.held.map(({ url }) => url)).toEqual(['/', '/third'])
    a.held[1]?.answer()
    expect((await third).status).toBe(200)
  })

  it('a client that goes away while it is answered makes room', async () => {
    const a = await holding('a')
    const port = await gatewayTo([a], single)
    const leaving = new AbortController()
    const gone = once(begin(port, { signal: leaving.signal }).end(), 'error')
    await expect.poll(() => a.held.length).toBe(1)
    leaving.abort()
    await gone
    const next = ask(port)
    await expect.poll(() => a.held.length).toBe(2)
    a.held[1]?.answer()
    expect((await next).body).toBe('a')
  })

  it('who waits is given an instance that becomes ready meanwhile', async () => {
    const [a, b] = [await holding('a'), await instance('b')]
    let ready: readonly Target[] = [a]
    const { onArrival, arrived } = counter()
    const port = await gatewayTo(() => ready, single, { onArrival })
    const first = answerOf(begin(port).end())
    await expect.poll(() => a.held.length).toBe(1)
    const second = ask(port)
    await arrived(2)
    ready = [a, b]
    expect((await second).body).toBe('b')
    a.held[0]?.answer()
    await first
  })
})
