import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'
import { spatialTransformer } from './spatial-transformer.ts'
import { timestepEmbedding } from './timestep-embedding.ts'

/** The sizes of a latent-diffusion UNet, read from the shapes of its weights. */
export interface UnetConfig {
  readonly inChannels: number
  readonly outChannels: number
  readonly modelChannels: number
  /** Width of the text context, or undefined in a network without cross-attention. */
  readonly contextWidth: number | undefined
  /** Width of the vector beside the timestep (SDXL's `y`), or undefined. */
  readonly vectorWidth: number | undefined
  /** Whether transformers project with linear layers (SD 2, SDXL) or 1×1 convolutions (SD 1). */
  readonly linearProjection: boolean
}

/** Reads the sizes of an LDM UNet; names are those behind `model.diffusion_model.`. */
export function readUnetConfig(view: WeightView): UnetConfig {
  const width = (name: string | undefined, axis: number) => (name ? view.get(name).dims[axis] : undefined)
  const first = view.get('input_blocks.0.0.weight').dims
  const projection = view.names.find((name) => name.endsWith('.1.proj_in.weight'))
  return {
    modelChannels: first[0]!,
    inChannels: first[1]!,
    outChannels: view.get('out.2.weight').dims[0]!,
    contextWidth: width(
      view.names.find((name) => name.endsWith('attn2.to_k.weight')),
      1,
    ),
    vectorWidth: view.has('label_emb.0.0.weight') ? width('label_emb.0.0.weight', 1) : undefined,
    linearProjection: projection !== undefined && view.get(projection).dims.length === 2,
  }
}

/**
 * The UNet of latent diffusion (Rombach et al., 2022): `x` `[N, C, H, W]`, `timesteps` `[N]`, `context` `[N, T, D]`
 * and, if the network has one, `y` `[N, A]` → `output` `[N, C, H, W]`. Depth, widths and the places of attention are
 * read from the names of the weights. `headsOf` tells how many attention heads a block of so many channels has.
 */
export function unetGraph(view: WeightView, lower: LoweringFor, headsOf: (channels: number) => number): GraphModel {
  const config = readUnetConfig(view)
  const lowering = lower('unet', view)
  const { graph } = lowering
  const x = lowering.fromImage(graph.input('x', imageAxes(config.inChannels)))
  const timesteps = graph.input('timesteps', ['N'])
  const context =
    config.contextWidth === undefined
      ? undefined
      : lowering.fromTokens(graph.input('context', ['N', 'T', config.contextWidth]))
  const embedding = embed(lowering, timesteps, config)

  /**
   * One entry of `input_blocks`, `middle_block` or `output_blocks`: its parts told apart by the names they have. Where
   * there is a transformer there is a context, for its width was read from one.
   */
  const block = (from: Wire, key: string, skip?: Wire): Wire => {
    let h = from
    for (let i = 0; i < countOf(view, `${key}.`); i++) {
      const part = `${key}.${i}`
      if (view.has(`${part}.in_layers.0.weight`)) h = resBlock(lowering, view, h, embedding, part)
      else if (view.has(`${part}.proj_in.weight`)) h = spatialTransformer(lowering, view, h, context!, part, headsOf)
      else if (view.has(`${part}.op.weight`)) h = lowering.conv(h, `${part}.op`, { stride: 2 })
      else if (view.has(`${part}.conv.weight`)) h = lowering.conv(lowering.upsample(h, skip), `${part}.conv`)
      else h = lowering.conv(h, part)
    }
    return h
  }

  const skips: Wire[] = []
  let h = x
  for (let i = 0; i < countOf(view, 'input_blocks.'); i++) {
    h = block(h, `input_blocks.${i}`)
    skips.push(h)
  }
  if (countOf(view, 'middle_block.') > 0) h = block(h, 'middle_block')
  for (let i = 0; i < countOf(view, 'output_blocks.'); i++) {
    const skip = skips.pop()!
    h = block(lowering.concat(h, skip), `output_blocks.${i}`, skips.at(-1))
  }
  h = lowering.conv(lowering.groupNorm(h, 'out.0', 1e-5, 'silu'), 'out.2')
  graph.output('output', lowering.toImage(h), imageAxes(config.outChannels))
  return graph.finish()
}

/** Timestep, and the vector beside it if there is one → `[N, 4 · modelChannels]`, SiLU of it already taken. */
function embed(lowering: Lowering, timesteps: Wire, { modelChannels, vectorWidth }: UnetConfig): Wire {
  const mlp = (from: Wire, key: string) => lowering.linear(lowering.silu(lowering.linear(from, `${key}.0`)), `${key}.2`)
  let embedding = mlp(lowering.fromTokens(timestepEmbedding(lowering.graph, timesteps, modelChannels)), 'time_embed')
  if (vectorWidth) {
    const y = lowering.fromTokens(lowering.graph.input('y', ['N', vectorWidth]))
    embedding = lowering.add(embedding, mlp(y, 'label_emb.0'))
  }
  return lowering.silu(embedding)
}

function resBlock(lowering: Lowering, view: WeightView, x: Wire, embedding: Wire, key: string): Wire {
  let h = lowering.conv(lowering.groupNorm(x, `${key}.in_layers.0`, 1e-5, 'silu'), `${key}.in_layers.2`)
  h = lowering.addVector(h, lowering.linear(embedding, `${key}.emb_layers.1`))
  h = lowering.conv(lowering.groupNorm(h, `${key}.out_layers.0`, 1e-5, 'silu'), `${key}.out_layers.3`)
  const skip = view.has(`${key}.skip_connection.weight`) ? lowering.conv(x, `${key}.skip_connection`) : x
  return lowering.add(skip, h)
}
