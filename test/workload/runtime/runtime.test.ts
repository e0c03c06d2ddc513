import { expect, it } from 'vitest'
import { probeGraph } from '../../../src/workload/architectures/probe.ts'
import { createGraph } from '../../../src/workload/onnx/graph-builder.ts'
import { createRuntime, type LazySource } from '../../../src/workload/runtime/runtime.ts'
import { filled } from '../../../src/workload/tensor/tensor.ts'

const cpu = { wanted: 'cpu', device: 0, threads: 1, maxBatch: 4, probe: probeGraph() } as const

/** A graph that says it has so many bytes of weights, and counts how often it is opened. */
function source(key: string, weightBytes: number) {
  const opened = { count: 0 }
  const lazy: LazySource = {
    key,
    weightBytes,
    async build() {
      opened.count += 1
      const graph = createGraph(key)
      graph.output('y', graph.op('Neg', [graph.input('x', ['N'])]), ['N'])
      return graph.finish() as never // no blobs: nothing is held in memory
    },
  }
  return { lazy, opened }
}

it('opens a graph at its first run, once however many ask', async () => {
  const { session } = await createRuntime({ ...cpu, maxBytes: 0 })
  const { lazy, opened } = source('a', 1)
  const made = session(lazy)
  expect(opened.count).toBe(0)
  await Promise.all([made.run({ x: filled([1], 1) }), session(lazy).run({ x: filled([1], 2) })])
  expect(opened.count).toBe(1)
})

it('releases the session used least recently when the budget is full, and opens it again when it is needed', async () => {
  const { session } = await createRuntime({ ...cpu, maxBytes: 20 })
  const [a, b, c] = [source('a', 10), source('b', 10), source('c', 10)]
  const [runA, runB, runC] = [a, b, c]
    .map(({ lazy }) => session(lazy))
    .map((made) => () => made.run({ x: filled([1], 1) }))
  for (const run of [runA!, runB!, runA!, runC!, runA!, runB!]) await run()
  expect([a.opened.count, b.opened.count, c.opened.count]).toEqual([1, 2, 1])
})

it('gives back what nobody uses when it is told to, and opens it again when it is needed', async () => {
  const { session, releaseIdle } = await createRuntime({ ...cpu, maxBytes: 0 })
  const { lazy, opened } = source('a', 10)
  const run = () => session(lazy).run({ x: filled([1], 1) })
  const running = run()
  await releaseIdle() // in use: it stays
  await running
  await run()
  expect(opened.count).toBe(1)
  await releaseIdle()
  await run()
  expect(opened.count).toBe(2)
})

it('says what it takes when it is given another shape', async () => {
  const { session } = await createRuntime({ ...cpu, maxBytes: 0 })
  const graph = createGraph('unet')
  graph.output('y', graph.op('Neg', [graph.input('context', ['N', 'T', 32])]), ['N', 'T', 32])
  const made = session({ key: 'shapes', weightBytes: 1, build: async () => graph.finish() as never })
  await expect(made.run({ context: filled([1, 77, 96], 1) })).rejects.toMatchObject({
    code: 'execution-failed',
    message: 'unet takes context of N×T×32, not 1×77×96: were its inputs made with another kind of model?',
  })
})

it('keeps two changed networks of a kind open, the ones used last', async () => {
  const { session } = await createRuntime({ ...cpu, maxBytes: 0 })
  const variants = ['a', 'b', 'c'].map((key) => source(key, 1))
  const plain = source('plain', 1)
  const [runA, runB, runC, runPlain] = [...variants.map(({ lazy }) => ({ ...lazy, variantOf: 'plain' })), plain.lazy]
    .map((lazy) => session(lazy))
    .map((made) => () => made.run({ x: filled([1], 1) }))
  for (const run of [runPlain!, runA!, runB!, runA!, runC!, runA!, runPlain!, runB!]) await run()
  expect(variants.map(({ opened }) => opened.count)).toEqual([1, 2, 1])
  expect(plain.opened.count).toBe(1)
})

it('gives inputs that are left out their defaults', async () => {
  const graph = createGraph('optional')
  const step = graph.optional('step', ['R'], [1], Float32Array.of(10))
  graph.output('y', graph.op('Add', [graph.input('x', ['N']), step]), ['N'])
  const { session } = await createRuntime({ ...cpu, maxBytes: 0 })
  const { name, bytes, defaults } = graph.finish()
  const made = session({ key: 'optional', weightBytes: 0, build: async () => ({ name, bytes, defaults }) })
  expect([...(await made.run({ x: filled([1], 1) })).y!.data]).toEqual([11])
  expect([...(await made.run({ x: filled([1], 1) }, { step: filled([1], 2) })).y!.data]).toEqual([3])
})

it('tells when the thread is about to be blocked and when it is free again', async () => {
  const said: string[] = []
  const { session } = await createRuntime({
    ...cpu,
    maxBytes: 0,
    onBlocking: (phase) => said.push(phase),
  })
  await session(source('a', 1).lazy).run({ x: filled([1], 1) })
  expect(said).toEqual(['begin', 'end', 'begin', 'end']) // opening, then running
})

it('falls back to the CPU when CUDA cannot be loaded, unless CUDA was demanded', async () => {
  const options = { ...cpu, maxBytes: 0 }
  const automatic = await createRuntime({ ...options, wanted: 'auto' })
  if (automatic.provider.name === 'cuda') return // this machine has a device
  expect(automatic.provider).toEqual({ name: 'cpu', device: 0, threads: 1 })
  await expect(createRuntime({ ...options, wanted: 'cuda' })).rejects.toMatchObject({ code: 'not-ready' })
})
