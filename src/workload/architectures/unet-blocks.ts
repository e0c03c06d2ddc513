import type { Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'
import { type Retiling, spatialTransformer } from './spatial-transformer.ts'
import { timestepEmbedding } from './timestep-embedding.ts'

/** What the blocks of one UNet, or of a control network made like one, have in common. */
export interface UnetParts {
  readonly lowering: Lowering
  readonly view: WeightView
  /** Absent in networks without cross-attention. */
  readonly context: Wire | undefined
  /** As `unetEmbedding` gives it. */
  readonly embedding: Wire
  headsOf(channels: number): number
  /** How queries of self-attention are laid out, in the order in which they are applied. */
  readonly retilings?: readonly Retiling[]
}

/** The sizes that the embedding depends on. */
export interface EmbeddingSizes {
  readonly modelChannels: number
  readonly vectorWidth: number | undefined
}

/**
 * Timesteps `[N]`, and the graph's input `y` beside them if the network has one → `[N, 4 · modelChannels]`, with
 * `added` `[1, 4 · modelChannels]`, and SiLU of it already taken.
 */
export function unetEmbedding(lowering: Lowering, timesteps: Wire, sizes: EmbeddingSizes, added?: Wire): Wire {
  const { modelChannels, vectorWidth } = sizes
  const mlp = (from: Wire, key: string) => lowering.linear(lowering.silu(lowering.linear(from, `${key}.0`)), `${key}.2`)
  let embedding = mlp(lowering.fromTokens(timestepEmbedding(lowering.graph, timesteps, modelChannels)), 'time_embed')
  if (added) embedding = lowering.add(embedding, added)
  if (vectorWidth) {
    const y = lowering.fromTokens(lowering.graph.input('y', ['N', vectorWidth]))
    embedding = lowering.add(embedding, mlp(y, 'label_emb.0'))
  }
  return lowering.silu(embedding)
}

/**
 * One entry of `input_blocks`, `middle_block` or `output_blocks`: its parts told apart by the names they have. An
 * upsampling goes to the size of `next`, the skip connection that the following block takes, or to twice the size.
 */
export function unetBlock(parts: UnetParts, from: Wire, key: string, next?: Wire): Wire {
  const { lowering, view, context, headsOf, retilings = [] } = parts
  let h = from
  for (let i = 0; i < countOf(view, `${key}.`); i++) {
    const part = `${key}.${i}`
    if (view.has(`${part}.in_layers.0.weight`)) h = resBlock(parts, h, part)
    // Where there is a transformer there is a context, for its width was read from one.
    else if (view.has(`${part}.proj_in.weight`))
      h = spatialTransformer(lowering, view, h, context!, part, { headsOf, retilings })
    else if (view.has(`${part}.op.weight`)) h = lowering.conv(h, `${part}.op`, { stride: 2 })
    else if (view.has(`${part}.conv.weight`)) h = lowering.conv(lowering.upsample(h, next), `${part}.conv`)
    else h = lowering.conv(h, part)
  }
  return h
}

function resBlock({ lowering, view, embedding }: UnetParts, x: Wire, key: string): Wire {
  let h = lowering.conv(lowering.groupNorm(x, `${key}.in_layers.0`, 1e-5, 'silu'), `${key}.in_layers.2`)
  h = lowering.addVector(h, lowering.linear(embedding, `${key}.emb_layers.1`))
  h = lowering.conv(lowering.groupNorm(h, `${key}.out_layers.0`, 1e-5, 'silu'), `${key}.out_layers.3`)
  const skip = view.has(`${key}.skip_connection.weight`) ? lowering.conv(x, `${key}.skip_connection`) : x
  return lowering.add(skip, h)
}
