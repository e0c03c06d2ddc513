import { describe, expect, it } from 'vitest'
import { HoldLost, Stopped } from '../../../src/workload/queue/job-queue.ts'
import {
  collect,
  embeddedKind,
  eventually,
  memoryKind,
  queueTimes,
  redisKind,
  requestOf,
} from '../../support/queues.ts'

const { takeoverMs } = queueTimes
const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id)

describe.each([memoryKind, redisKind(), embeddedKind()])('a queue, $name', ({ name, missing, shared, bench }) => {
  const here = it.skipIf(missing !== '')
  const shares = it.skipIf(missing !== '' || !shared)
  if (missing !== '') it.skip(`is not tested on ${name}: ${missing}`)
  if (!shared) it.skip(`is not shared: ${name} has one server`)

  here('hands out larger priorities first, and among equals who came first', async () => {
    const queue = (await bench()).server()
    for (const [id, priority] of Object.entries({ 1: 0, 2: -1000, 3: 1000, 4: 0, 5: 1, 6: 1000 }))
      await queue.submit(requestOf(id, { priority }))
    const held = collect(queue)
    await eventually(() => expect(idsOf(held)).toEqual(['3', '6', '5', '1', '4', '2']))
  })

  here('tells what was asked, word for word', async () => {
    const queue = (await bench()).server()
    const text = `${JSON.stringify({ text: 'ä\u0000\ud800 😀', ':': '\\' })}${'x'.repeat(1_000_000)}`
    const request = { id: '7:a b', run: 3, priority: -7, created: 1234 }
    const expected = { ...request, stage: 'waiting', starts: 0, note: undefined, cancelled: false, position: 0 }
    const held = collect(queue, 0)
    for (const entry of [await queue.submit({ ...request, asked: text }), await queue.find('7:a b')]) {
      const { asked, ...others } = entry ?? { asked: '' }
      expect(others).toEqual(expected)
      expect(asked === text).toBe(true) // a million characters make a poor message
    }
    expect(held).toEqual([])
  })

  here('keeps one entry under an id: the first', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1'))
    expect(await queue.submit(requestOf('1', { asked: 'something else' }))).toMatchObject({ asked: 'what 1 asks' })
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.end('done')
    expect(await queue.submit(requestOf('1'))).toMatchObject({ stage: 'ended', note: 'done' })
    expect(await queue.list(5)).toHaveLength(1)
  })

  here('counts who waits, and says how many go before', async () => {
    const queue = (await bench()).server()
    for (const id of ['1', '2', '3']) await queue.submit(requestOf(id))
    await queue.submit(requestOf('4', { priority: 1 }))
    expect(queue.waiting).toBe(4)
    expect(await Promise.all(['1', '2', '3', '4'].map(async (id) => (await queue.find(id))?.position))).toEqual([
      1, 2, 3, 0,
    ])
    collect(queue, 3)
    await eventually(() => expect(queue.waiting).toBe(1))
    expect(await queue.find('3')).toMatchObject({ stage: 'waiting', position: 0 })
    expect(await queue.find('4')).toMatchObject({ stage: 'held', position: undefined })
  })

  here('keeps notes, and the last one after the end', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1'))
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.keep('first')
    expect(await queue.find('1')).toMatchObject({ stage: 'held', note: 'first' })
    await held[0]?.end('last')
    expect(await queue.find('1')).toMatchObject({ stage: 'ended', note: 'last', starts: 1 })
    await expect(held[0]?.keep('too late')).rejects.toBeInstanceOf(HoldLost)
    await expect(held[0]?.end('again')).rejects.toBeInstanceOf(HoldLost)
    expect(await queue.find('1')).toMatchObject({ note: 'last' })
  })

  here('keeps less of what was asked when its holder says so', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1', { asked: 'much' }))
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.end('last', 'little')
    expect(await queue.find('1')).toMatchObject({ stage: 'ended', note: 'last', asked: 'little' })
  })

  here('lists the oldest first, and of the ended ones the newest', async () => {
    const queue = (await bench()).server()
    const held = collect(queue, 1)
    for (const id of ['1', '2', '3']) {
      await queue.submit(requestOf(id))
      await eventually(() => expect(held.at(-1)?.id).toBe(id))
      await held.at(-1)?.end('')
      await new Promise((resolve) => setTimeout(resolve, 2)) // ends are told apart by milliseconds
    }
    for (const id of ['4', '5', '6']) await queue.submit(requestOf(id))
    await eventually(() => expect(idsOf(held)).toEqual(['1', '2', '3', '4']))
    expect((await queue.list(2)).map(({ id, stage, position }) => [id, stage, position])).toEqual([
      ['2', 'ended', undefined],
      ['3', 'ended', undefined],
      ['4', 'held', undefined],
      ['5', 'waiting', 0],
      ['6', 'waiting', 1],
    ])
    expect(idsOf(await queue.list(0))).toEqual(['4', '5', '6'])
  })

  here('does not count a taking that was given back, and keeps its place', async () => {
    const queue = (await bench()).server()
    for (const id of ['1', '2']) await queue.submit(requestOf(id))
    const held = collect(queue, 1)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.keep('noted')
    await held[0]?.giveBack()
    await eventually(() => expect(held).toHaveLength(2))
    expect(held[1]).toMatchObject({ id: '1', starts: 1, note: 'noted' })
    await expect(held[0]?.keep('too late')).rejects.toBeInstanceOf(HoldLost)
  })

  here('takes no more than there is room for, and goes on when there is more', async () => {
    const queue = (await bench()).server()
    for (let id = 1; id <= 6; id++) await queue.submit(requestOf(`${id}`))
    let room = 2
    const held: string[] = []
    queue.work(
      async ({ id, end }) => {
        held.push(id)
        room--
        await end('')
      },
      () => room > 0,
    )
    await eventually(() => expect(held).toHaveLength(2))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(held).toHaveLength(2)
    room = 3
    queue.roomChanged()
    await eventually(() => expect(held).toEqual(['1', '2', '3', '4', '5']))
  })

  here('marks a waiting entry as unwanted for whoever takes it', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1'))
    expect(await queue.cancel('1')).toBe(true)
    expect(await queue.find('1')).toMatchObject({ stage: 'waiting', cancelled: true })
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    expect(held[0]).toMatchObject({ cancelled: true, signal: { aborted: true } })
    expect(held[0]?.signal.reason).toBeInstanceOf(Stopped)
    await held[0]?.keep('stopped')
    await held[0]?.end('told')
    expect(await queue.cancel('1')).toBe(false)
    expect(await queue.cancel('unknown')).toBe(false)
  })

  here('tells the holder of an unwanted entry', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1'))
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    expect(await queue.cancel('1')).toBe(true)
    await eventually(() => expect(held[0]?.signal.reason).toBeInstanceOf(Stopped))
    await held[0]?.end('told')
  })

  here('lets an ended entry wait again as if it were new', async () => {
    const queue = (await bench()).server()
    await queue.submit(requestOf('1', { priority: 3 }))
    expect(await queue.revive('1', 'too early')).toBe(false)
    expect(await queue.revive('unknown', '')).toBe(false)
    await queue.cancel('1')
    const held = collect(queue, 1)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.end('ended')
    await queue.submit(requestOf('2', { priority: 9 }))
    await eventually(() => expect(held).toHaveLength(2))
    expect(await queue.revive('1', 'once more')).toBe(true)
    expect(await queue.find('1')).toMatchObject({ stage: 'waiting', note: 'once more', starts: 0, cancelled: false })
    await held[1]?.end('')
    await eventually(() => expect(held).toHaveLength(3))
    expect(held[2]).toMatchObject({ id: '1', priority: 3, starts: 1, note: 'once more', signal: { aborted: false } })
    await held[2]?.end('ended twice')
    expect(await queue.find('1')).toMatchObject({ stage: 'ended', note: 'ended twice' })
  })

  here('forgets what has ended or waits, but nothing that is held', async () => {
    const queue = (await bench()).server()
    for (const id of ['1', '2', '3']) await queue.submit(requestOf(id))
    const held = collect(queue, 2)
    await eventually(() => expect(held).toHaveLength(2))
    await queue.remove('3')
    await held[0]?.end('')
    for (const id of ['1', '2', 'unknown']) await queue.remove(id)
    expect(idsOf(await queue.list(9))).toEqual(['2'])
    expect(await queue.find('1')).toBeUndefined()
    await queue.submit(requestOf('1'))
    await eventually(() => expect(held.at(-1)).toMatchObject({ id: '1', starts: 1 }))
  })

  here('rests: takes no more, and waits for what is held', async () => {
    const queue = (await bench()).server()
    const held = collect(queue)
    await queue.submit(requestOf('1'))
    await eventually(() => expect(held).toHaveLength(1))
    let resting = true
    const rested = queue.rest().then(() => {
      resting = false
    })
    await queue.submit(requestOf('2'))
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(resting).toBe(true)
    await held[0]?.giveBack()
    await rested
    expect(idsOf(held)).toEqual(['1'])
    expect(await queue.find('1')).toMatchObject({ stage: 'waiting', starts: 0 })
  })

  here('loses what is held when it is closed', async () => {
    const queue = (await bench()).server()
    const held = collect(queue)
    await queue.submit(requestOf('1'))
    await eventually(() => expect(held).toHaveLength(1))
    await queue.close()
    expect(held[0]?.signal.reason).toBeInstanceOf(HoldLost)
    await expect(held[0]?.end('')).rejects.toBeInstanceOf(HoldLost)
  })

  shares('gives each of many entries to one of several servers, once', async () => {
    const { server } = await bench()
    const patient = { takeoverMs: 60_000 }
    const [one, other] = [server(patient), server(patient)]
    const seen: string[] = []
    for (const queue of [one, other]) {
      let room = 5
      const handle = async (held: Parameters<Parameters<typeof queue.work>[0]>[0]) => {
        seen.push(held.id)
        room--
        await held.keep('…')
        await held.end('done')
        room++
        queue.roomChanged()
      }
      queue.work(handle, () => room > 0)
    }
    const ids = Array.from({ length: 200 }, (_, index) => `${index}`)
    await Promise.all(ids.map((id) => one.submit(requestOf(id))))
    await eventually(() => expect(seen).toHaveLength(200))
    expect(new Set(seen)).toEqual(new Set(ids))
    await Promise.all([one.rest(), other.rest()])
    expect((await other.list(500)).filter(({ stage, starts }) => stage === 'ended' && starts === 1)).toHaveLength(200)
  })

  shares('hands out again what a server held that is never heard of again', async () => {
    const { server, deadServer } = await bench()
    const queue = server()
    await queue.submit(requestOf('1'))
    expect(await deadServer()).toBe('1')
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(1))
    expect(held[0]).toMatchObject({ id: '1', starts: 2 })
    await held[0]?.end('')
  })

  shares('leaves an entry to a server that lives, however long it holds it', async () => {
    const { server } = await bench()
    const [one, other] = [server(), server()]
    await one.submit(requestOf('1'))
    const held = collect(one)
    await eventually(() => expect(held).toHaveLength(1))
    const taken = collect(other)
    await new Promise((resolve) => setTimeout(resolve, 2.2 * takeoverMs))
    expect(taken).toEqual([])
    await held[0]?.end('')
    expect(await other.find('1')).toMatchObject({ stage: 'ended', starts: 1 })
  })

  shares('tells the holder on another server that an entry is unwanted', async () => {
    const { server } = await bench()
    const [one, other] = [server(), server()]
    await one.submit(requestOf('1'))
    const held = collect(one)
    await eventually(() => expect(held).toHaveLength(1))
    await held[0]?.keep('before')
    expect(await other.cancel('1')).toBe(true)
    await eventually(() => expect(held[0]?.signal.reason).toBeInstanceOf(Stopped))
    expect(await other.find('1')).toMatchObject({ cancelled: true, note: 'before' })
  })
})
