import { expect, it } from 'vitest'
import { createMemoryQueue } from '../../../src/workload/queue/memory.ts'
import { closing, collect, eventually, requestOf } from '../../support/queues.ts'

it('forgets what ended longer ago than it is kept', async () => {
  let time = 0
  const queue = closing(createMemoryQueue({ now: () => time, retentionMs: 1000 }))
  const held = collect(queue)
  for (const id of ['1', '2']) await queue.submit(requestOf(id))
  await eventually(() => expect(held).toHaveLength(2))
  await held[0]?.end('')
  time = 999
  await held[1]?.end('')
  expect((await queue.list(9)).map(({ id }) => id)).toEqual(['1', '2'])
  time = 1000
  expect(await queue.find('1')).toBeUndefined()
  expect(await queue.revive('1', '')).toBe(false)
  expect((await queue.list(9)).map(({ id }) => id)).toEqual(['2'])
  expect(await queue.submit(requestOf('1'))).toMatchObject({ stage: 'waiting', starts: 0 })
})
