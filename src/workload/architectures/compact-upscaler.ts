import type { GraphModel } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import type { UpscalerConfig } from './esrgan.ts'
import { imageAxes, type LoweringFor } from './lowering.ts'
import { pixelShuffle } from './pixel-shuffle.ts'

const CHANNELS = 3

/** The numbers of the layers, rising: convolutions, and between them slopes of activations. */
const layersOf = (view: WeightView): readonly number[] =>
  view.names
    .flatMap((name) => name.match(/^body\.(\d+)\.weight$/)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)

/** Reads the sizes, or undefined when it is no compact network for pictures of three channels. */
export function readCompactConfig(view: WeightView): UpscalerConfig | undefined {
  const layers = layersOf(view)
  const dimsOf = (layer: number | undefined) => (layer === undefined ? [] : view.get(`body.${layer}.weight`).dims)
  // A convolution and slopes in turn, and a convolution at the end.
  const regular =
    layers.length > 2 && layers.every((layer, i) => layer === i && dimsOf(layer).length === (i % 2 ? 1 : 4))
  const scale = Math.sqrt((dimsOf(layers.at(-1))[0] ?? 0) / CHANNELS)
  const fits = regular && layers.length % 2 === 1 && dimsOf(0)[1] === CHANNELS && Number.isInteger(scale)
  return fits ? { scale, multiple: 1 } : undefined
}

/**
 * The compact network of Real-ESRGAN (SRVGGNet): `pixels` `[N, 3, H, W]`, 0 to 1 → `enlarged`
 * `[N, 3, H·scale, W·scale]`, what plain convolutions add to the picture enlarged by its nearest pixels.
 */
export function compactUpscalerGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const { scale } = readCompactConfig(view) ?? { scale: 1 }
  const lowering = lower('compact_upscaler', view)
  const { graph } = lowering
  const pixels = graph.input('pixels', imageAxes(CHANNELS))
  let h = lowering.fromImage(pixels)
  for (const layer of layersOf(view))
    h = layer % 2 === 0 ? lowering.conv(h, `body.${layer}`) : lowering.prelu(h, `body.${layer}`)
  const enlarged = graph.op('Resize', [pixels, undefined, graph.constant([4], Float32Array.of(1, 1, scale, scale))], {
    attributes: { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' },
  })
  const added = graph.op('Add', [pixelShuffle(graph, lowering.toImage(h), scale), enlarged])
  graph.output('enlarged', added, ['N', CHANNELS, 'H_out', 'W_out'])
  return graph.finish()
}
