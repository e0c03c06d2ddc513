import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import { arithmeticOf } from './graph-arithmetic.ts'
import type { Lowering, LoweringFor } from './lowering.ts'
import { pixelUnshuffle } from './pixel-shuffle.ts'

/** What a T2I adapter looks at and steers, read from the shapes of its weights. */
export interface T2iConfig {
  /** 1 for sketches and outlines, 3 for pictures. */
  readonly hintChannels: number
  /** Pixels of the hint a cell of the first features, along each side. */
  readonly cell: number
  /** The input block of the UNet that each level's features are added behind. */
  readonly blocks: readonly number[]
  /** Whether the features of a last level are added behind the middle block. */
  readonly middle: boolean
}

/** Reads the sizes; those whose first layer sees blocks of 16 × 16 pixels are made for SDXL. */
export function readT2iConfig(view: WeightView): T2iConfig {
  const seen = view.get(isLight(view) ? 'body.0.in_conv.weight' : 'conv_in.weight').dims[1]!
  const large = !isLight(view) && (seen === 16 * 16 || seen === 3 * 16 * 16)
  const cell = large ? 16 : 8
  return { hintChannels: seen / cell ** 2, cell, blocks: large ? [3, 5, 8] : [2, 5, 8, 11], middle: large }
}

/** Whether the adapter is of the small kind, whose levels are bottlenecks. */
const isLight = (view: WeightView): boolean => view.has('body.0.in_conv.weight') && !view.has('conv_in.weight')

/**
 * A T2I adapter (Mou et al., 2023): `hint` `[N, 3, H, W]`, 0 to 1, sides multiples of the cell → `input_i`, a residual
 * for each of the config's blocks, and perhaps `middle`.
 */
export function t2iAdapterGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const { hintChannels, cell, blocks, middle } = readT2iConfig(view)
  const lowering = lower('t2i_adapter', view)
  const { graph } = lowering
  const hint = graph.input('hint', ['N', 3, 'H', 'W'])
  const seen = hintChannels === 1 ? graph.op('ReduceMean', [hint], { attributes: { axes: [1] } }) : hint
  let h = lowering.fromImage(pixelUnshuffle(graph, seen, hintChannels, cell))
  if (!isLight(view)) h = lowering.conv(h, 'conv_in')
  const names = [...blocks.map((block) => `input_${block}`), ...(middle ? ['middle'] : [])]
  for (const [level, name] of names.entries()) {
    // Made for SDXL, whose latents stay large for longer, only the third level halves; else all but the first do.
    const halved = middle ? level === 2 : level > 0
    h = isLight(view) ? bottleneck(lowering, view, h, level, halved) : residualPair(lowering, view, h, level, halved)
    graph.output(name, lowering.toImage(h), ['N', `${name}_C`, `${name}_H`, `${name}_W`])
  }
  return graph.finish()
}

/** A level of the full adapter: two residual blocks, the first of them smaller or wider than what it is given. */
function residualPair(lowering: Lowering, view: WeightView, x: Wire, level: number, halved: boolean): Wire {
  const first = `body.${2 * level}`
  let h = x
  if (halved)
    h = view.has(`${first}.down_opt.op.weight`)
      ? lowering.conv(h, `${first}.down_opt.op`, { stride: 2 })
      : halvedByMean(lowering, h)
  for (const key of [first, `body.${2 * level + 1}`]) {
    if (view.has(`${key}.in_conv.weight`)) h = lowering.conv(h, `${key}.in_conv`)
    h = residual(lowering, h, key)
  }
  return h
}

/** A level of the light adapter: residual blocks of a quarter of its channels. */
function bottleneck(lowering: Lowering, view: WeightView, x: Wire, level: number, halved: boolean): Wire {
  const key = `body.${level}`
  let h = lowering.conv(halved ? halvedByMean(lowering, x) : x, `${key}.in_conv`)
  for (let i = 0; i < countOf(view, `${key}.body.`); i++) h = residual(lowering, h, `${key}.body.${i}`)
  return lowering.conv(h, `${key}.out_conv`)
}

function residual(lowering: Lowering, x: Wire, key: string): Wire {
  const inner = lowering.graph.op('Relu', [lowering.conv(x, `${key}.block1`)])
  return lowering.add(lowering.conv(inner, `${key}.block2`), x)
}

/** The mean of every two by two; along an odd side a row of noughts is set before the first and behind the last. */
function halvedByMean(lowering: Lowering, x: Wire): Wire {
  const { graph } = lowering
  const { sizes, joined, ints } = arithmeticOf(graph)
  const image = lowering.toImage(x)
  const odd = graph.op('Mod', [sizes(image, 2, 4), ints(2)])
  const padded = graph.op('Pad', [image, joined(ints(0, 0), odd, ints(0, 0), odd)])
  const attributes = { kernel_shape: [2, 2], strides: [2, 2] }
  return lowering.fromImage(graph.op('AveragePool', [padded], { attributes }))
}
