import { float } from '../onnx/attributes.ts'
import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import type { LoweringFor } from './lowering.ts'
import { cast } from './stored-weights.ts'

/** The sizes of a CLIP text transformer, read from the shapes of its weights. */
export interface ClipTextConfig {
  readonly layers: number
  readonly width: number
  readonly vocabulary: number
  /** Tokens of a chunk. */
  readonly positions: number
  /** Width of the pooled output behind the projection, or undefined without one. */
  readonly projected: number | undefined
}

/** Reads the sizes; names are those of the Hugging Face layout behind `text_model.`, with `text_projection` beside it. */
export function readClipTextConfig(view: WeightView): ClipTextConfig {
  const [vocabulary, width] = view.get('embeddings.token_embedding.weight').dims as [number, number]
  return {
    layers: countOf(view, 'encoder.layers.'),
    width,
    vocabulary,
    positions: view.get('embeddings.position_embedding.weight').dims[0]!,
    projected: projectedWidth(view),
  }
}

/** OpenCLIP keeps its projection transposed, under a name of its own. */
function projectedWidth(view: WeightView): number | undefined {
  if (view.has('text_projection.weight')) return view.get('text_projection.weight').dims[0]
  return view.has('text_projection') ? view.get('text_projection').dims[1] : undefined
}

/**
 * The text transformer of CLIP (Radford et al., 2021). Inputs, all float32, one row a chunk of 77 tokens:
 * `ids` `[N, 77]` token numbers · `vectors` `[N, 77, C]` what stands in place of a token (noughts elsewhere) ·
 * `kept` `[N, 77, 1]` 1 where the token counts and 0 where the vector does · `layer` `[N, layers]` 1 at the layer to
 * stop at, 0 elsewhere · `end` `[N, 77]` 1 at the token to pool.
 * Outputs: `hidden` `[N, 77, C]` of that layer as it is, `normed` the same behind the final layer norm, `pooled`
 * `[N, C]` and, if the file has a projection, `projected` `[N, P]`.
 */
export function clipTextGraph(
  view: WeightView,
  lower: LoweringFor,
  { heads, activation }: { readonly heads: number; readonly activation: 'quickGelu' | 'gelu' },
): GraphModel {
  const { layers, width, positions, projected } = readClipTextConfig(view)
  const lowering = lower('clip_text', view)
  const { graph } = lowering
  const { op } = graph
  const chunk = ['N', positions] as const
  const ids = cast(graph, graph.input('ids', chunk), 'int64')
  const vectors = lowering.fromTokens(graph.input('vectors', [...chunk, width]))
  const kept = lowering.fromTokens(graph.input('kept', [...chunk, 1]))
  const chosen = lowering.fromTokens(graph.input('layer', ['N', layers]))
  const end = lowering.fromTokens(graph.input('end', chunk))

  const looked = lowering.lookup('embeddings.token_embedding.weight', ids)
  let h = lowering.add(op('Mul', [looked, kept]), vectors)
  h = lowering.add(h, lowering.weight('embeddings.position_embedding.weight'))
  const states: Wire[] = []
  for (let i = 0; i < layers; i++) {
    const key = `encoder.layers.${i}`
    const normed = lowering.layerNorm(h, `${key}.layer_norm1`)
    const project = (name: string) => lowering.linear(normed, `${key}.self_attn.${name}_proj`)
    const attended = lowering.attention(project('q'), project('k'), project('v'), heads, { causal: true })
    h = lowering.add(h, lowering.linear(attended, `${key}.self_attn.out_proj`))
    const inner = lowering.linear(lowering.layerNorm(h, `${key}.layer_norm2`), `${key}.mlp.fc1`)
    h = lowering.add(h, lowering.linear(lowering[activation](inner), `${key}.mlp.fc2`))
    states.push(op('Unsqueeze', [h, graph.constant([1], BigInt64Array.of(1n))]))
  }
  // [N, 1, layers] · [N, layers, 77 · C]: picks one layer a row, exactly, whatever the others chose.
  const flat = op('Reshape', [
    op('Concat', states, { attributes: { axis: 1 } }),
    graph.constant([3], BigInt64Array.of(0n, BigInt(layers), -1n)),
  ])
  const picked = op('MatMul', [op('Unsqueeze', [chosen, graph.constant([1], BigInt64Array.of(1n))]), flat])
  const hidden = op('Reshape', [picked, graph.constant([3], BigInt64Array.of(0n, BigInt(positions), BigInt(width)))])
  const last = lowering.layerNorm(h, 'final_layer_norm')
  const pooled = op('Squeeze', [
    op('FusedMatMul', [op('Unsqueeze', [end, graph.constant([1], BigInt64Array.of(1n))]), last], {
      domain: 'com.microsoft',
      attributes: { alpha: float(1) },
    }),
    graph.constant([1], BigInt64Array.of(1n)),
  ])
  graph.output('hidden', lowering.toTokens(hidden), [...chunk, width])
  graph.output('normed', lowering.toTokens(lowering.layerNorm(hidden, 'final_layer_norm')), [...chunk, width])
  graph.output('pooled', lowering.toTokens(pooled), ['N', width])
  if (projected) {
    const vector = view.has('text_projection.weight')
      ? lowering.linear(pooled, 'text_projection')
      : op('MatMul', [pooled, lowering.weight('text_projection')])
    graph.output('projected', lowering.toTokens(vector), ['N', projected])
  }
  return graph.finish()
}
