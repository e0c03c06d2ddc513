import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import { inputChannels } from './input-channels.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'
import type { Retiling } from './spatial-transformer.ts'
import { unetBlock, unetEmbedding } from './unet-blocks.ts'

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

/** Reads the sizes of an LDM UNet, or of a control network made of its first half; names are those behind `model.diffusion_model.`. */
export function readUnetConfig(view: WeightView): UnetConfig {
  const width = (name: string | undefined, axis: number) => (name ? view.get(name).dims[axis] : undefined)
  const first = view.get('input_blocks.0.0.weight').dims
  const projection = view.names.find((name) => name.endsWith('.1.proj_in.weight'))
  return {
    modelChannels: first[0]!,
    inChannels: first[1]!,
    outChannels: view.has('out.2.weight') ? view.get('out.2.weight').dims[0]! : 4,
    contextWidth: width(
      view.names.find((name) => name.endsWith('attn2.to_k.weight')),
      1,
    ),
    vectorWidth: view.has('label_emb.0.0.weight') ? width('label_emb.0.0.weight', 1) : undefined,
    linearProjection: projection !== undefined && view.get(projection).dims.length === 2,
  }
}

/** What a UNet computes otherwise than it was trained to, at the places where it may. */
export interface UnetChange {
  readonly retiling?: Retiling
  /** Changes what input block `block` gives, before it becomes a skip connection as well. */
  afterInput?(h: Wire, block: number): Wire
  /** As `afterInput`, for the next block only. */
  afterSkip?(h: Wire, block: number): Wire
  /** Changes the feature map that an output block is given, and the skip connection beside it. */
  beforeJoin?(h: Wire, skip: Wire, place: JoinPlace): { readonly h: Wire; readonly skip: Wire }
}

/** Which output block it is. */
export interface JoinPlace {
  /** Channels of the feature map, without those of the skip connection. */
  readonly channels: number
  /** The input block that the skip connection comes from. */
  readonly skipOf: number
}

/** Prepares a change in a graph whose input `x` is `[N, C, H, W]`. */
export type UnetAlteration = (lowering: Lowering, x: Wire, config: UnetConfig) => UnetChange

/** Which of the graphs over one UNet's weights is wanted. */
export interface UnetVariant {
  /** Whether it takes residuals: inputs `control_input_i`, `control_output_i` and `control_middle`, see below. */
  readonly control?: boolean
  /** In the order in which they were made. */
  readonly alterations?: readonly UnetAlteration[]
}

/**
 * The UNet of latent diffusion (Rombach et al., 2022): `x` `[N, C, H, W]`, `timesteps` `[N]`, `context` `[N, T, D]`
 * and, if the network has one, `y` `[N, A]` → `output` `[N, C, H, W]`. Depth, widths and the places of attention are
 * read from the names of the weights. `headsOf` tells how many attention heads a block of so many channels has.
 * With `control`, residuals of the shape of what they are added to, or `[N, 1, 1, 1]`: behind input block i and the
 * middle block, and to the skip connection of input block i.
 */
export function unetGraph(
  view: WeightView,
  lower: LoweringFor,
  headsOf: (channels: number) => number,
  { control = false, alterations = [] }: UnetVariant = {},
): GraphModel {
  const config = readUnetConfig(view)
  const lowering = lower('unet', view)
  const { graph } = lowering
  const input = graph.input('x', imageAxes(config.inChannels))
  const timesteps = graph.input('timesteps', ['N'])
  const context =
    config.contextWidth === undefined
      ? undefined
      : lowering.fromTokens(graph.input('context', ['N', 'T', config.contextWidth]))
  const changes = alterations.map((alter) => alter(lowering, input, config))
  const retilings = changes.flatMap(({ retiling }) => retiling ?? [])
  const parts = { lowering, view, context, embedding: unetEmbedding(lowering, timesteps, config), headsOf, retilings }
  const controlled = (h: Wire, name: string): Wire => {
    if (!control) return h
    const wire = `control_${name}`
    return lowering.add(h, lowering.fromImage(graph.input(wire, ['N', `${wire}_C`, `${wire}_H`, `${wire}_W`])))
  }

  const skips: Wire[] = []
  let h = lowering.fromImage(input)
  for (let i = 0; i < countOf(view, 'input_blocks.'); i++) {
    h = controlled(unetBlock(parts, h, `input_blocks.${i}`), `input_${i}`)
    for (const change of changes) h = change.afterInput?.(h, i) ?? h
    skips.push(h)
    for (const change of changes) h = change.afterSkip?.(h, i) ?? h
  }
  if (countOf(view, 'middle_block.') > 0) h = unetBlock(parts, h, 'middle_block')
  h = controlled(h, 'middle')
  const skipChannels = inputChannels(view)
  for (let i = 0; i < countOf(view, 'output_blocks.'); i++) {
    const skipOf = skips.length - 1
    let skip = controlled(skips.pop()!, `output_${skipOf}`)
    const channels = view.get(`output_blocks.${i}.0.in_layers.0.weight`).dims[0]! - skipChannels[skipOf]!
    for (const change of changes) ({ h, skip } = change.beforeJoin?.(h, skip, { channels, skipOf }) ?? { h, skip })
    h = unetBlock(parts, lowering.concat(h, skip), `output_blocks.${i}`, skips.at(-1))
  }
  h = lowering.conv(lowering.groupNorm(h, 'out.0', 1e-5, 'silu'), 'out.2')
  graph.output('output', lowering.toImage(h), imageAxes(config.outChannels))
  return graph.finish()
}
