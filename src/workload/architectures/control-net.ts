import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import { inputChannels } from './input-channels.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'
import { readUnetConfig } from './unet.ts'
import { unetBlock, unetEmbedding } from './unet-blocks.ts'
import { unionEmbedding, unionFeatures, unionKinds } from './union-control.ts'

export interface ControlNetOptions {
  /** Attention heads of a block of so many channels. */
  headsOf(channels: number): number
  /** Whether residuals say only how strong each channel is, and not where: their mean over the picture, everywhere. */
  readonly averaged: boolean
  /** Which kind of hint a union network is given; undefined leaves it to find out. */
  readonly kind?: number | undefined
}

/**
 * The control network of a latent-diffusion UNet (Zhang et al., 2023), a copy of its first half: `x`, `timesteps`,
 * `context` and perhaps `y` as the UNet takes them and `hint` `[N, 3, 8H, 8W]`, 0 to 1 → `output_i`, a residual for the
 * skip connection of each input block, and `middle`. Names are those of the LDM layout.
 */
export function controlNetGraph(view: WeightView, lower: LoweringFor, options: ControlNetOptions): GraphModel {
  const { headsOf, averaged: mean, kind } = options
  const config = readUnetConfig(view)
  const lowering = lower('control_net', view)
  const { graph } = lowering
  const x = lowering.fromImage(graph.input('x', imageAxes(config.inChannels)))
  const timesteps = graph.input('timesteps', ['N'])
  const context =
    config.contextWidth === undefined
      ? undefined
      : lowering.fromTokens(graph.input('context', ['N', 'T', config.contextWidth]))
  const kinds = unionKinds(view)
  const embedding = unetEmbedding(
    lowering,
    timesteps,
    config,
    kinds > 0 ? unionEmbedding(lowering, kinds, kind) : undefined,
  )
  const parts = { lowering, view, context, embedding, headsOf }
  const residual = (name: string, h: Wire, key: string, channels: number) => {
    const result = lowering.toImage(lowering.conv(h, key))
    graph.output(name, mean ? averaged(lowering, result) : result, ['N', channels, `${name}_H`, `${name}_W`])
  }

  const hint = hintFeatures(lowering, view)
  const channels = inputChannels(view)
  let h = x
  for (const [i, width] of channels.entries()) {
    h = unetBlock(parts, h, `input_blocks.${i}`)
    if (i === 0)
      h = lowering.add(h, kinds > 0 && kind !== undefined ? unionFeatures(lowering, hint, width, kind) : hint)
    residual(`output_${i}`, h, `zero_convs.${i}.0`, width)
  }
  h = unetBlock(parts, h, 'middle_block')
  residual('middle', h, 'middle_block_out.0', channels.at(-1)!)
  return graph.finish()
}

/** The picture brought to the size of the latents: convolutions with SiLU between, where the channels grow the size halves. */
function hintFeatures(lowering: Lowering, view: WeightView): Wire {
  const hint = lowering.graph.input('hint', ['N', 3, 'hint_H', 'hint_W'])
  const layers = view.names
    .flatMap((name) => name.match(/^input_hint_block\.(\d+)\.weight$/)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b)
  let h = lowering.fromImage(hint)
  for (const [place, layer] of layers.entries()) {
    const key = `input_hint_block.${layer}`
    const [wider, narrower] = view.get(`${key}.weight`).dims as [number, number]
    const ends = place === 0 || place === layers.length - 1
    h = lowering.conv(place === 0 ? h : lowering.silu(h), key, { stride: !ends && wider > narrower ? 2 : 1 })
  }
  return h
}

/** `[N, C, H, W]` → the same shape, the mean of each channel everywhere. */
function averaged({ graph: { op } }: Lowering, x: Wire): Wire {
  return op('Expand', [op('GlobalAveragePool', [x]), op('Shape', [x])])
}
