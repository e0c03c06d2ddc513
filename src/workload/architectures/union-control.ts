import type { Wire } from '../onnx/graph-builder.ts'
import type { WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'

/** Width of the sinusoids that each kind of hint is told with. */
const WAVES = 256

/** How many kinds of hints a union control network tells apart; 0 for other control networks. */
export const unionKinds = (view: WeightView): number =>
  view.has('task_embedding.weight') ? view.get('task_embedding.weight').dims[0]! : 0

/**
 * What a union control network (xinsir's ControlNet++) adds to the embedding of the timestep, `[1, E]`: for each of its
 * kinds the sinusoids of 1 if it is the one and of 0 else, through two layers.
 */
export function unionEmbedding(lowering: Lowering, kinds: number, kind: number | undefined): Wire {
  const half = WAVES / 2
  const waves = Float32Array.from({ length: kinds * WAVES }, (_, i) => {
    const place = i % WAVES
    const angle = Math.floor(i / WAVES) === kind ? Math.exp((-Math.log(10_000) * (place % half)) / half) : 0
    return place < half ? Math.cos(angle) : Math.sin(angle)
  })
  const told = lowering.fromTokens(lowering.graph.constant([1, kinds * WAVES], waves))
  const inner = lowering.silu(lowering.linear(told, 'control_add_embedding.linear_1'))
  return lowering.linear(inner, 'control_add_embedding.linear_2')
}

/**
 * The features `[N, C, H, W]` of a hint of `kind`, with what the network makes of their mean added everywhere. Its
 * transformer looks at that mean alone, and attention to a single token gives its value.
 */
export function unionFeatures(lowering: Lowering, features: Wire, channels: number, kind: number): Wire {
  const { op, ops, constant } = lowering.graph
  const pooled = op('GlobalAveragePool', [lowering.toImage(features)])
  const flat = lowering.fromTokens(op('Reshape', [pooled, constant([2], BigInt64Array.of(0n, BigInt(channels)))]))
  const task = op('Gather', [lowering.weight('task_embedding.weight'), constant([1], BigInt64Array.of(BigInt(kind)))])
  const key = 'transformer_layes.0'
  let token = lowering.add(flat, task)
  const projected = lowering.linear(lowering.layerNorm(token, `${key}.ln_1`), `${key}.attn.in_proj`)
  const [, , value] = ops('Split', [projected], 3, { attributes: { axis: 1 } })
  token = lowering.add(token, lowering.linear(value!, `${key}.attn.out_proj`))
  const inner = lowering.quickGelu(lowering.linear(lowering.layerNorm(token, `${key}.ln_2`), `${key}.mlp.c_fc`))
  token = lowering.add(token, lowering.linear(inner, `${key}.mlp.c_proj`))
  return lowering.addVector(features, lowering.linear(token, 'spatial_ch_projs'))
}
