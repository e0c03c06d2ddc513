import { describe, expect, it } from 'vitest'
import { downscale } from '../../../src/workload/architectures/downscale.ts'
import { freeU } from '../../../src/workload/architectures/free-u.ts'
import { arithmeticOf } from '../../../src/workload/architectures/graph-arithmetic.ts'
import { graphResizeMethods, resizedInGraph } from '../../../src/workload/architectures/graph-resize.ts'
import { hyperTile } from '../../../src/workload/architectures/hyper-tile.ts'
import type { Lowering } from '../../../src/workload/architectures/lowering.ts'
import type { UnetAlteration, UnetConfig } from '../../../src/workload/architectures/unet.ts'
import type { Wire } from '../../../src/workload/onnx/graph-builder.ts'
import { resized } from '../../../src/workload/tensor/resize.ts'
import { type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { viewOver } from '../../../src/workload/weights/weight-view.ts'
import { goldenInput } from '../../support/golden-models.ts'
import { lowerings } from '../../support/golden-views.ts'
import { sessionOf } from '../../support/runtime.ts'

const config: UnetConfig = {
  inChannels: 4,
  outChannels: 4,
  modelChannels: 8,
  contextWidth: undefined,
  vectorWidth: undefined,
  linearProjection: false,
}
const noWeights = viewOver(new Map(), 'a test')
const largest = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))

let graphs = 0
/** Runs what `write` makes of the inputs on one lowering. */
async function runGraph(
  [, lower, rewrite]: (typeof lowerings)[number],
  feeds: Readonly<Record<string, Tensor>>,
  write: (lowering: Lowering, inputs: Readonly<Record<string, Wire>>) => Readonly<Record<string, Wire>>,
) {
  const lowering = lower(`alteration ${++graphs}`, noWeights)
  const { graph } = lowering
  const wires = Object.entries(feeds).map(([name, { dims }]) => {
    const axes = dims.length === 4 ? [`${name}N`, dims[1]!, `${name}H`, `${name}W`] : dims.map((_, i) => `${name}${i}`)
    return [name, graph.input(name, axes)] as const
  })
  const outputs = Object.entries(write(lowering, Object.fromEntries(wires)))
  for (const [name, wire] of outputs)
    graph.output(
      `${name}_out`,
      wire,
      Array.from({ length: name.startsWith('tokens') ? 3 : 4 }, (_, i) => `${name}${i}`),
    )
  const results = await (await sessionOf(graph.finish(), rewrite)).run(feeds)
  return Object.fromEntries(outputs.map(([name]) => [name, results[`${name}_out`]!]))
}

/** The four lowest frequencies of every plane scaled by `s`, by the sums that define the discrete Fourier transform. */
function filteredByDefinition({ dims, data }: Tensor, s: number): Tensor {
  const [, , height, width] = dims as [number, number, number, number]
  const out = Float32Array.from(data)
  const distinct = (n: number) => (n === 1 ? [0] : [0, n - 1])
  for (let at = 0; at < data.length; at += height * width) {
    for (const u of distinct(height)) {
      for (const v of distinct(width)) {
        const angle = (y: number, x: number) => 2 * Math.PI * ((u * y) / height + (v * x) / width)
        let [re, im] = [0, 0]
        for (let i = 0; i < height * width; i++) {
          const phase = angle(Math.floor(i / width), i % width)
          re += data[at + i]! * Math.cos(phase)
          im -= data[at + i]! * Math.sin(phase)
        }
        for (let i = 0; i < height * width; i++) {
          const phase = angle(Math.floor(i / width), i % width)
          out[at + i]! += ((s - 1) * (re * Math.cos(phase) - im * Math.sin(phase))) / (height * width)
        }
      }
    }
  }
  return tensor(dims, out)
}

const join = (
  alteration: UnetAlteration,
  lowering: Lowering,
  { x, h, skip }: Readonly<Record<string, Wire>>,
  skipOf = 0,
) => {
  const change = alteration(lowering, x ?? h!, config)
  const joined = change.beforeJoin!(lowering.fromImage(h!), lowering.fromImage(skip!), { channels: 16, skipOf })
  return { h: lowering.toImage(joined.h), skip: lowering.toImage(joined.skip) }
}

describe.each(lowerings.map((lowering) => [lowering[0], lowering] as const))('FreeU %s', (_device, lowering) => {
  const strengths = { b1: 5, b2: 1.4, s1: 6, s2: 0.3 }

  it.each([
    [6, 10],
    [7, 5],
    [1, 4],
    [2, 1],
  ])('scales low frequencies of skip connections of %d × %d', async (height, width) => {
    const feeds = { h: goldenInput('h', [2, 16, height, width]), skip: goldenInput('skip', [2, 3, height, width]) }
    const altered = await runGraph(lowering, feeds, (graph, wires) =>
      join(freeU({ version: 1, ...strengths }), graph, wires),
    )
    expect(largest(altered.skip!, filteredByDefinition(feeds.skip, 0.3))).toBeLessThan(2e-6)
    const half = (16 / 2) * height * width
    const wanted = feeds.h.data.map((value, i) => (i % (2 * half) < half ? Math.fround(1.4) * value : value))
    expect(largest(altered.h!, tensor(feeds.h.dims, wanted))).toBeLessThan(1e-6)
  })

  it('scales features by their own mean in its second version', async () => {
    const [height, width] = [4, 6]
    const feeds = { h: goldenInput('h', [2, 16, height, width]), skip: goldenInput('skip', [2, 3, height, width]) }
    const altered = await runGraph(lowering, feeds, (graph, wires) =>
      join(freeU({ version: 2, ...strengths }), graph, wires),
    )
    const area = height * width
    const wanted = Float32Array.from(feeds.h.data)
    for (let row = 0; row < 2; row++) {
      const at = (c: number, i: number) => feeds.h.data[(row * 16 + c) * area + i]!
      const mean = Array.from(
        { length: area },
        (_, i) => Array.from({ length: 16 }, (_, c) => at(c, i)).reduce((a, b) => a + b) / 16,
      )
      const [least, most] = [Math.min(...mean), Math.max(...mean)]
      for (let c = 0; c < 8; c++)
        for (let i = 0; i < area; i++)
          wanted[(row * 16 + c) * area + i]! *= 0.4 * ((mean[i]! - least) / (most - least)) + 1
    }
    expect(largest(altered.h!, tensor(feeds.h.dims, wanted))).toBeLessThan(2e-6)
  })

  it('does nothing with strengths of 1', async () => {
    const feeds = { h: goldenInput('h', [1, 16, 5, 6]), skip: goldenInput('skip', [1, 3, 5, 6]) }
    const one = { b1: 1, b2: 1, s1: 1, s2: 1 }
    for (const version of [1, 2] as const) {
      const altered = await runGraph(lowering, feeds, (graph, wires) => join(freeU({ version, ...one }), graph, wires))
      expect(largest(altered.h!, feeds.h)).toBe(0)
      expect(largest(altered.skip!, feeds.skip)).toBe(0)
    }
  })
})

describe.each(lowerings.map((lowering) => [lowering[0], lowering] as const))('resizing %s', (_device, lowering) => {
  it.each(graphResizeMethods)('%s is what it is outside of graphs', async (method) => {
    for (const [height, width] of [
      [4, 3],
      [11, 9],
      [7, 5],
    ] as const) {
      const image = goldenInput('image', [2, 3, 7, 5])
      const { result } = await runGraph(lowering, { image }, (made, wires) => {
        const size = made.graph.constant([2], BigInt64Array.of(BigInt(height), BigInt(width)))
        const same = made.toImage(made.fromImage(wires.image!))
        return { result: resizedInGraph(made.graph, same, size, method) }
      })
      expect(largest(result!, resized(image, width, height, method, 'disabled'))).toBeLessThan(2e-6)
    }
  })
})

describe.each(lowerings.map((lowering) => [lowering[0], lowering] as const))('downscaling %s', (_device, lowering) => {
  const options = { block: 3, factor: 2, downscaleMethod: 'bicubic', upscaleMethod: 'bilinear' } as const

  it.each([
    [true, 3],
    [false, 2],
  ])(
    'shrinks behind its block and grows back where connections are larger (after skip: %s)',
    async (afterSkip, larger) => {
      const feeds = {
        x: zeros([1, 4, 8, 8]),
        h: goldenInput('h', [1, 16, 7, 10]),
        skip: goldenInput('s', [1, 3, 9, 9]),
      }
      const altered = await runGraph(lowering, feeds, (made, wires) => {
        const change = downscale({ ...options, afterSkip })(made, wires.x!, config)
        const shrink = (afterSkip ? change.afterSkip : change.afterInput)!
        const h = made.fromImage(wires.h!)
        const elsewhere = join(downscale({ ...options, afterSkip }), made, wires, larger + 1)
        return {
          small: made.toImage(shrink(h, 3)),
          same: made.toImage(shrink(h, 2)),
          grown: join(downscale({ ...options, afterSkip }), made, wires, larger).h,
          left: elsewhere.h,
        }
      })
      // 7 / 2 is rounded to the even side, 4.
      expect(largest(altered.small!, resized(feeds.h, 5, 4, 'bicubic', 'disabled'))).toBeLessThan(2e-6)
      expect(largest(altered.grown!, resized(feeds.h, 9, 9, 'bilinear', 'disabled'))).toBeLessThan(2e-6)
      expect(altered.small!.dims).toEqual([1, 16, 4, 5])
      expect(largest(altered.same!, feeds.h)).toBe(0)
      expect(largest(altered.left!, feeds.h)).toBe(0)
    },
  )
})

describe.each(lowerings.map((lowering) => [lowering[0], lowering] as const))('HyperTile %s', (_device, lowering) => {
  const retile = async (
    latents: readonly [number, number],
    depth: number,
    options: Parameters<typeof hyperTile>[0],
  ) => {
    const [height, width] = latents.map((side) => side / 2 ** depth) as [number, number]
    const pixels = tensor(
      [2, height * width, 1],
      Float32Array.from({ length: 2 * height * width }, (_, i) => i),
    )
    const { tokens, tokensBack } = await runGraph(lowering, { x: zeros([2, 4, ...latents]), pixels }, (made, wires) => {
      const { sizes, joined, reshape, ints } = arithmeticOf(made.graph)
      const { tokens: asking, join: back } = hyperTile(options)(made, wires.x!, config).retiling!(wires.pixels!)
      return { tokens: reshape(asking, joined(ints(2, -1), sizes(asking, 1, 2))), tokensBack: back(asking) }
    })
    expect(tokensBack).toEqual(pixels)
    const [, tiles, size] = tokens!.dims
    return { tiles, size, first: [...tokens!.data.slice(0, size)] }
  }
  const rows = (...ranges: readonly (readonly [number, number])[]) =>
    ranges.flatMap(([from, count]) => Array.from({ length: count }, (_, i) => from + i))

  it('cuts a square picture into tiles of the smallest divisor that is large enough', async () => {
    // 12 cells, tiles of at least 4: three by three.
    const { first, ...sizes } = await retile([12, 12], 0, { tileSize: 32, maxDepth: 0, scaleDepth: false })
    expect(sizes).toMatchObject({ tiles: 9, size: 16 })
    expect(first).toEqual(rows([0, 4], [12, 4], [24, 4], [36, 4]))
  })

  it('counts lines along the width of a picture that is not square', async () => {
    // 16 lines of 8 "columns": four by two tiles of 4 × 4.
    const { first, ...sizes } = await retile([8, 16], 0, { tileSize: 32, maxDepth: 0, scaleDepth: false })
    expect(sizes).toMatchObject({ tiles: 8, size: 16 })
    expect(first).toEqual(rows([0, 4], [8, 4], [16, 4], [24, 4]))
  })

  it('tiles halved pictures up to its depth, with larger tiles there when told so', async () => {
    const plain = { tileSize: 32, maxDepth: 1, scaleDepth: false }
    expect(await retile([16, 16], 1, plain)).toMatchObject({ tiles: 4, size: 16 })
    expect(await retile([16, 16], 1, { ...plain, scaleDepth: true })).toMatchObject({ tiles: 1, size: 64 })
    expect(await retile([16, 16], 1, { ...plain, maxDepth: 0 })).toMatchObject({ tiles: 1, size: 64 })
    expect(await retile([16, 16], 0, { ...plain, scaleDepth: true })).toMatchObject({ tiles: 16, size: 16 })
  })

  it('leaves pictures alone that no tile divides', async () => {
    const sizes = await retile([13, 7], 0, { tileSize: 64, maxDepth: 2, scaleDepth: false })
    expect(sizes).toMatchObject({ tiles: 1, size: 91 })
  })
})
