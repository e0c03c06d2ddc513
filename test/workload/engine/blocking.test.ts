import { expect, it } from 'vitest'
import { watchBlocking } from '../../../src/workload/engine/blocking.ts'

it('counts time once while calls of several sessions are under way', () => {
  let time = 0
  const watch = watchBlocking(
    () => undefined,
    () => time,
  )
  const at = (moment: number, phase: 'begin' | 'end') => {
    time = moment
    watch.onBlocking(phase)
  }
  at(0, 'begin')
  at(1, 'begin') // another session, before the first has run
  at(10, 'end')
  at(20, 'end')
  at(100, 'begin')
  at(105, 'end')
  expect(watch.total()).toBe(25)
})
