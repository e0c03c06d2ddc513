import { describe, expect, it } from 'vitest'
import { type Compute, createResultCache, type Outcome } from '../../../src/workload/graph/cache.ts'

const never = new AbortController().signal
const quiet = () => undefined
const outcome = (...values: readonly unknown[]): Outcome => ({ slots: [values], artifacts: [] })
const cacheOf = (maxBytes = 1000) => createResultCache({ maxBytes, sizeOf: (value) => Number(value) })

/** A computation that the test lands itself. */
function flight() {
  let resolve: (result: Outcome) => void = quiet
  let reject: (error: unknown) => void = quiet
  const landing = new Promise<Outcome>((...settle) => {
    ;[resolve, reject] = settle
  })
  const begun: { signal: AbortSignal; progress: (value: number, max: number) => void }[] = []
  const compute: Compute = (signal, progress) => {
    begun.push({ signal, progress })
    return landing
  }
  return { resolve, reject, begun, compute }
}

describe('the result cache', () => {
  it('computes once and answers from memory after that', async () => {
    const cache = cacheOf()
    const first = flight()
    first.resolve(outcome(1))
    expect(await cache.resolve('k', never, first.compute, quiet)).toEqual({ result: outcome(1), cached: false })
    const second = flight()
    expect(await cache.resolve('k', never, second.compute, quiet)).toEqual({ result: outcome(1), cached: true })
    expect(cache.get('k')).toEqual(outcome(1))
    expect(second.begun).toHaveLength(0)
  })

  it('forgets everything when it is told to', async () => {
    const cache = cacheOf()
    const { compute, resolve } = flight()
    resolve(outcome(1))
    await cache.resolve('k', never, compute, quiet)
    cache.clear()
    expect(cache.get('k')).toBeUndefined()
    cacheOf(0).clear()
  })

  it('keeps to its budget and lets the longest unused go first', async () => {
    const cache = cacheOf(100)
    for (const key of ['a', 'b', 'c']) {
      await cache.resolve(key, never, async () => outcome(20, 20), quiet)
      cache.get('a')
    }
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
    await cache.resolve('huge', never, async () => outcome(101), quiet)
    expect(cache.get('huge')).toBeUndefined()
    expect(cache.get('a')).toBeDefined()
  })

  it('keeps nothing without a budget or without a key', async () => {
    const empty = cacheOf(0)
    await empty.resolve('k', never, async () => outcome(1), quiet)
    expect(empty.get('k')).toBeUndefined()
    const cache = cacheOf()
    const both = [flight(), flight()] as const
    const waiting = both.map(({ compute }) => cache.resolve(undefined, never, compute, quiet))
    for (const [i, { resolve }] of both.entries()) resolve(outcome(i))
    expect((await Promise.all(waiting)).map(({ result }) => result.slots[0])).toEqual([[0], [1]])
  })

  it('computes once for all who wait at the same time, and tells all of them how far it is', async () => {
    const cache = cacheOf()
    const { begun, compute, resolve } = flight()
    const seen: string[] = []
    const waiting = ['a', 'b'].map((who) =>
      cache.resolve('k', never, compute, (value, max) => seen.push(`${who} ${value}/${max}`)),
    )
    await Promise.resolve()
    begun[0]!.progress(1, 4)
    resolve(outcome(7))
    expect(await Promise.all(waiting)).toEqual(Array(2).fill({ result: outcome(7), cached: false }))
    expect(begun).toHaveLength(1)
    expect(seen).toEqual(['a 1/4', 'b 1/4'])
  })

  it('gives a failure to all who wait and does not keep it', async () => {
    const cache = cacheOf()
    const { compute, reject } = flight()
    const waiting = [1, 2].map(() => cache.resolve('k', never, compute, quiet))
    reject(new Error('boom'))
    for (const one of await Promise.allSettled(waiting)) expect(one).toMatchObject({ reason: { message: 'boom' } })
    expect(await cache.resolve('k', never, async () => outcome(1), quiet)).toMatchObject({ cached: false })
  })

  it('lets one who aborts leave at once and computes on for the others', async () => {
    const cache = cacheOf()
    const { begun, compute, resolve } = flight()
    const leaving = new AbortController()
    const left = cache.resolve('k', leaving.signal, compute, quiet)
    const stays = cache.resolve('k', never, compute, quiet)
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    expect(begun[0]!.signal.aborted).toBe(false)
    resolve(outcome(3))
    expect(await stays).toEqual({ result: outcome(3), cached: false })
  })

  it('aborts the computation when all have left, and whoever comes at that moment gets a fresh one', async () => {
    const cache = cacheOf()
    const first = flight()
    const second = flight()
    const leaving = new AbortController()
    const left = cache.resolve('k', leaving.signal, first.compute, quiet)
    await Promise.resolve()
    leaving.abort(new Error('left'))
    const comes = cache.resolve('k', never, second.compute, quiet)
    await expect(left).rejects.toThrow('left')
    expect(first.begun[0]!.signal.aborted).toBe(true)
    first.resolve(outcome(1)) // what an aborted computation returns is not to be trusted
    await Promise.resolve()
    expect(cache.get('k')).toBeUndefined()
    second.resolve(outcome(2))
    expect(await comes).toEqual({ result: outcome(2), cached: false })
    expect(cache.get('k')).toEqual(outcome(2))
  })

  it('computes anew for those who stay when it fails after the one who brought the computation has left', async () => {
    const cache = cacheOf()
    const first = flight()
    const second = flight()
    const third = flight()
    const leaving = new AbortController()
    const left = cache.resolve('k', leaving.signal, first.compute, quiet)
    const stay = [second, third].map(({ compute }) => cache.resolve('k', never, compute, quiet))
    leaving.abort()
    await expect(left).rejects.toThrow()
    first.reject(new Error('the folder of the one who left is gone'))
    second.resolve(outcome(2))
    expect((await Promise.all(stay)).map(({ result }) => result)).toEqual([outcome(2), outcome(2)])
    expect(third.begun).toHaveLength(0)
  })

  it('does not begin for one who has already left', async () => {
    const { begun, compute } = flight()
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(cacheOf().resolve('k', gone, compute, quiet)).rejects.toThrow('gone')
    expect(begun).toHaveLength(0)
  })
})
