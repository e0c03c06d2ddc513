import { expect, it } from 'vitest'
import { createGraph } from '../../../src/workload/onnx/graph-builder.ts'
import { createBatchedSession } from '../../../src/workload/runtime/batching.ts'
import type { Session, Tensors } from '../../../src/workload/runtime/session.ts'
import { tensor } from '../../../src/workload/tensor/tensor.ts'
import { sessionOf } from '../../support/runtime.ts'

/** y = x · s, a row at a time, on the real runtime; `runs` collects the batch sizes. */
async function counted(): Promise<{ session: Session; runs: number[] }> {
  const graph = createGraph('product')
  const product = graph.op('Mul', [graph.input('x', ['N', 'L']), graph.input('s', ['N', 1])])
  graph.output('y', product, ['N', 'L'])
  const inner = await sessionOf(graph.finish())
  const runs: number[] = []
  const run = (feeds: Tensors) => {
    runs.push(feeds.x!.dims[0]!)
    return inner.run(feeds)
  }
  return { session: { run }, runs }
}

const row = (s: number, ...x: readonly number[]) => ({
  x: tensor([1, x.length], Float32Array.from(x)),
  s: tensor([1, 1], Float32Array.of(s)),
})

it('makes one run of what waits at the same moment, and gives each call its own rows', async () => {
  const { session, runs } = await counted()
  const { run } = createBatchedSession(session, [1, 2, 4, 8])
  const answers = await Promise.all([run(row(1, 1, 2)), run(row(10, 1, 2)), run(row(100, 1, 2))])
  expect(answers.map(({ y }) => [...y!.data])).toEqual([
    [1, 2],
    [10, 20],
    [100, 200],
  ])
  expect(runs).toEqual([4]) // three, padded to the next bucket
})

it('lets those who come while a run is on share the next one', async () => {
  const { session, runs } = await counted()
  const { run } = createBatchedSession(session, [1, 2, 4])
  const first = run(row(1, 1))
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([first, run(row(2, 1)), run(row(3, 1))])
  expect(runs).toEqual([1, 2])
})

it('keeps calls of other shapes apart and lets one that is too large go alone', async () => {
  const { session, runs } = await counted()
  const { run } = createBatchedSession(session, [1, 2])
  const large = { x: tensor([3, 1], Float32Array.of(1, 2, 3)), s: tensor([3, 1], Float32Array.of(1, 1, 1)) }
  await Promise.all([run(row(1, 1)), run(row(1, 1, 2)), run(large), run(row(1, 5))])
  expect(runs.toSorted()).toEqual([1, 2, 3])
})

it('fails the calls of a failing run and no others', async () => {
  const { session } = await counted()
  const { run } = createBatchedSession(session, [1, 2])
  const bad = run({ x: tensor([1, 2], Float32Array.of(1, 2)), s: tensor([1, 3], Float32Array.of(1, 2, 3)) })
  await expect(bad).rejects.toMatchObject({ code: 'execution-failed' })
  expect([...(await run(row(2, 4))).y!.data]).toEqual([8])
})

it('runs calls together only when what they share is one and the same object', async () => {
  const { session, runs } = await counted()
  const { run } = createBatchedSession(session, [1, 2, 4])
  const [one, same] = [{}, {}]
  await Promise.all([run(row(1, 1), one), run(row(2, 1), same), run(row(3, 1), one), run(row(4, 1)), run(row(5, 1))])
  expect(runs).toEqual([2, 1, 2])
})
