import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataType, type ElementType } from '../../../src/workload/onnx/data-type.ts'
import { createGraph } from '../../../src/workload/onnx/graph-builder.ts'
import type { Session } from '../../../src/workload/runtime/session.ts'
import { filled, tensor } from '../../../src/workload/tensor/tensor.ts'
import { readOnnxInputs } from '../../../src/workload/weights/onnx-inputs.ts'
import { emptyFolder } from '../../support/folder.ts'
import { cpuRuntime } from '../../support/runtime.ts'

/** A file of a graph `y = x · t`, `t` a scalar and all of it of `type`, beside weights that it does not use. */
async function fileOf(type: ElementType): Promise<string> {
  const graph = createGraph('exported')
  const x = graph.input('x', ['N', 2], type)
  graph.constant([50_000], new Float32Array(50_000))
  const t = graph.input('t', [], type)
  const product = graph.op('Mul', [x, t])
  graph.output('y', graph.op('Cast', [product], { attributes: { to: dataType[type] } }), ['N', 2], type)
  const path = join(await emptyFolder(), 'model.onnx')
  await writeFile(path, graph.finish().bytes)
  return path
}

async function sessionOf(path: string): Promise<Session> {
  const build = async () => ({ name: 'exported', path, once: ['t'] })
  return (await cpuRuntime()).session({ key: path, weightBytes: 0, build })
}

it.each([
  ['float32', 0.1, 0.10000000149011612],
  ['float16', 0.1, 0.0999755859375],
  ['float64', 0.1, 0.10000000149011612],
  ['int64', 3, 3],
  ['int32', 3, 3],
] satisfies [ElementType, number, number][])(
  'feeds and reads what a file declares as %s',
  async (type, value, seen) => {
    const session = await sessionOf(await fileOf(type))
    const { y } = await session.run({ x: filled([1, 2], value), t: filled([1], 1) })
    expect([...y!.data]).toEqual([Math.fround(seen), Math.fround(seen)])
  },
)

it('gives a value that is taken once for all rows to each row nevertheless, also when calls become one run', async () => {
  const session = await sessionOf(await fileOf('float32'))
  const x = tensor([3, 2], Float32Array.of(1, 2, 3, 4, 5, 6))
  const calls = [10, 100, 10].map((t) => session.run({ x, t: tensor([3], Float32Array.of(t, 2 * t, t)) }))
  const rows = (await Promise.all(calls)).map(({ y }) => [...y!.data])
  expect(rows).toEqual([
    [10, 20, 60, 80, 50, 60],
    [100, 200, 600, 800, 500, 600],
    [10, 20, 60, 80, 50, 60],
  ])
})

it('refuses a fraction where the file declares whole numbers', async () => {
  const session = await sessionOf(await fileOf('int64'))
  await expect(session.run({ x: filled([1, 2], 1), t: filled([1], 0.5) })).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining('whole numbers'),
  })
})

it('reads the inputs of a file without its weights', async () => {
  const inputs = await readOnnxInputs(await fileOf('float32'))
  expect([...inputs]).toEqual([
    ['x', [undefined, 2]],
    ['t', []],
  ])
})
