import type { Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import type { Lowering } from './lowering.ts'

/** Another layout of the tokens that ask in a self-attention: more rows of fewer tokens each. */
export interface Retiled {
  readonly tokens: Wire
  /** Brings what was attended to back into the first layout. */
  join(attended: Wire): Wire
}

/** Lays the tokens `[N, S, C]` that ask in a self-attention out anew. */
export type Retiling = (tokens: Wire) => Retiled

export interface TransformerOptions {
  headsOf(channels: number): number
  /** Applied to the queries of self-attention, one behind the other. */
  readonly retilings: readonly Retiling[]
}

/** Transformer blocks over the pixels of feature map `x`, attending to `context` `[N, T, D]`; the input is added back. */
export function spatialTransformer(
  lowering: Lowering,
  view: WeightView,
  x: Wire,
  context: Wire,
  key: string,
  { headsOf, retilings }: TransformerOptions,
): Wire {
  const heads = headsOf(view.get(`${key}.proj_in.weight`).dims[0]!)
  const normalised = lowering.groupNorm(x, `${key}.norm`, 1e-6)
  // Stable Diffusion 1 projects with 1×1 convolutions, which are linear layers over the pixels.
  let tokens = lowering.linear(lowering.flatten(normalised), `${key}.proj_in`)
  for (let i = 0; i < countOf(view, `${key}.transformer_blocks.`); i++)
    tokens = transformerBlock(lowering, tokens, context, `${key}.transformer_blocks.${i}`, heads, retilings)
  return lowering.add(lowering.unflatten(lowering.linear(tokens, `${key}.proj_out`), x), x)
}

/** Self-attention, cross-attention and a gated feed-forward, each before a layer norm and added back. */
function transformerBlock(
  lowering: Lowering,
  x: Wire,
  context: Wire,
  key: string,
  heads: number,
  retilings: readonly Retiling[],
): Wire {
  const attend = (from: Wire, to: Wire, name: string) => {
    const [q, k, v] = [
      lowering.linear(from, `${name}.to_q`),
      lowering.linear(to, `${name}.to_k`),
      lowering.linear(to, `${name}.to_v`),
    ] as const
    return lowering.linear(lowering.attention(q, k, v, heads), `${name}.to_out.0`)
  }
  const attendToItself = (tokens: Wire) => {
    const laid: Retiled[] = []
    let asking = tokens
    for (const retile of retilings) {
      laid.unshift(retile(asking))
      asking = laid[0]!.tokens
    }
    const attended = attend(asking, laid.length > 0 ? asManyRows(lowering, tokens, asking) : tokens, `${key}.attn1`)
    return laid.reduce((joined, { join }) => join(joined), attended)
  }
  let h = lowering.add(x, attendToItself(lowering.layerNorm(x, `${key}.norm1`)))
  h = lowering.add(h, attend(lowering.layerNorm(h, `${key}.norm2`), context, `${key}.attn2`))
  const gated = lowering.gatedGelu(lowering.linear(lowering.layerNorm(h, `${key}.norm3`), `${key}.ff.net.0.proj`))
  return lowering.add(h, lowering.linear(gated, `${key}.ff.net.2`))
}

/** `tokens` in runs of consecutive ones, as many rows as `like` has. */
function asManyRows({ graph: { op, constant } }: Lowering, tokens: Wire, like: Wire): Wire {
  const part = (x: Wire, start: number, end: number) => op('Shape', [x], { attributes: { start, end } })
  const shape = [part(like, 0, 1), constant([1], BigInt64Array.of(-1n)), part(tokens, 2, 3)]
  return op('Reshape', [tokens, op('Concat', shape, { attributes: { axis: 0 } })])
}
