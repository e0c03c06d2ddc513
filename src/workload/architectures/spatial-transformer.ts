import type { Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'

/** Transformer blocks over the pixels of feature map `x`, attending to `context` `[N, T, D]`; the input is added back. */
export function spatialTransformer(
  lowering: Lowering,
  view: WeightView,
  x: Wire,
  context: Wire,
  key: string,
  headsOf: (channels: number) => number,
): Wire {
  const projection = view.get(`${key}.proj_in.weight`).dims
  const linear = projection.length === 2
  const heads = headsOf(projection[0]!)
  const normalised = lowering.groupNorm(x, `${key}.norm`, 1e-6)
  let tokens = linear
    ? lowering.linear(lowering.flatten(normalised), `${key}.proj_in`)
    : lowering.flatten(lowering.conv(normalised, `${key}.proj_in`))
  for (let i = 0; i < countOf(view, `${key}.transformer_blocks.`); i++)
    tokens = transformerBlock(lowering, tokens, context, `${key}.transformer_blocks.${i}`, heads)
  const h = linear
    ? lowering.unflatten(lowering.linear(tokens, `${key}.proj_out`), x)
    : lowering.conv(lowering.unflatten(tokens, x), `${key}.proj_out`)
  return lowering.add(h, x)
}

/** Self-attention, cross-attention and a gated feed-forward, each before a layer norm and added back. */
function transformerBlock(lowering: Lowering, x: Wire, context: Wire, key: string, heads: number): Wire {
  const attend = (from: Wire, to: Wire, name: string) => {
    const [q, k, v] = [
      lowering.linear(from, `${name}.to_q`),
      lowering.linear(to, `${name}.to_k`),
      lowering.linear(to, `${name}.to_v`),
    ] as const
    return lowering.linear(lowering.attention(q, k, v, heads), `${name}.to_out.0`)
  }
  const normed = lowering.layerNorm(x, `${key}.norm1`)
  let h = lowering.add(x, attend(normed, normed, `${key}.attn1`))
  h = lowering.add(h, attend(lowering.layerNorm(h, `${key}.norm2`), context, `${key}.attn2`))
  const gated = lowering.gatedGelu(lowering.linear(lowering.layerNorm(h, `${key}.norm3`), `${key}.ff.net.0.proj`))
  return lowering.add(h, lowering.linear(gated, `${key}.ff.net.2`))
}
