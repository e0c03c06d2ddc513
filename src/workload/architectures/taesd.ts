import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'

/** Channels of the pictures. */
const COLOURS = 3

/** How many times each half changes the size by two. */
const HALVINGS = 3

/** Pixels a latent cell, along each side. */
export const TAESD_DOWNSCALE = 2 ** HALVINGS

/** Channels of the latents, read from the decoder's first convolution. */
export const taesdChannels = (decoder: WeightView): number => decoder.get('1.weight').dims[1]!

/**
 * The decoder of the tiny autoencoder (TAESD, Boer Bohan 2023), whose layers are one sequence that the weights number:
 * `latents` `[N, Z, h, w]` in the network's scale → `decoded` `[N, 3, H, W]`, about 0 to 1. Latents are first bent
 * into -3 to 3. Layers without weights are ReLU behind the first convolution and enlargement elsewhere.
 */
export function taesdDecoderGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const lowering = lower('taesd_decoder', view)
  const { op, constant } = lowering.graph
  const three = constant([], Float32Array.of(3))
  const latents = lowering.graph.input('latents', imageAxes(taesdChannels(view)))
  const bent = op('Mul', [op('Tanh', [op('Div', [latents, three])]), three])
  let h = relu(lowering, lowering.conv(lowering.fromImage(bent), '1'))
  for (let layer = 3; layer <= lastLayer(view); layer++) {
    if (isBlock(view, layer)) h = block(lowering, view, h, layer)
    else h = view.has(`${layer}.weight`) ? lowering.conv(h, `${layer}`) : lowering.upsample(h)
  }
  lowering.graph.output('decoded', lowering.toImage(h), imageAxes(COLOURS))
  return lowering.graph.finish()
}

/** The encoder: `pixels` `[N, 3, H, W]`, 0 to 1 → `latents` `[N, Z, h, w]` in the network's scale. */
export function taesdEncoderGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const lowering = lower('taesd_encoder', view)
  const last = lastLayer(view)
  let h = lowering.fromImage(lowering.graph.input('pixels', imageAxes(COLOURS)))
  for (let layer = 0; layer <= last; layer++) {
    if (isBlock(view, layer)) h = block(lowering, view, h, layer)
    // Convolutions between the first and the last halve the size.
    else h = lowering.conv(h, `${layer}`, { stride: layer === 0 || layer === last ? 1 : 2 })
  }
  lowering.graph.output('latents', lowering.toImage(h), imageAxes(view.get(`${last}.weight`).dims[0]!))
  return lowering.graph.finish()
}

const lastLayer = (view: WeightView): number => Math.max(...view.names.map((name) => Number.parseInt(name, 10)))
const isBlock = (view: WeightView, layer: number): boolean => view.has(`${layer}.conv.0.weight`)
const relu = (lowering: Lowering, x: Wire): Wire => lowering.graph.op('Relu', [x])

/** Three convolutions, the input added back, and ReLU behind each step. */
function block(lowering: Lowering, view: WeightView, x: Wire, layer: number): Wire {
  let h = x
  for (const i of [0, 2]) h = relu(lowering, lowering.conv(h, `${layer}.conv.${i}`))
  h = lowering.conv(h, `${layer}.conv.4`)
  const skip = view.has(`${layer}.skip.weight`) ? lowering.conv(x, `${layer}.skip`) : x
  return relu(lowering, lowering.add(h, skip))
}
