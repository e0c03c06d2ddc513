import { readUnetConfig, type UnetConfig } from '../../architectures/unet.ts'
import { countOf, type WeightView } from '../../weights/weight-view.ts'

/** What tells the UNets of latent diffusion apart, whatever their width and depth. */
export interface UnetStructure extends UnetConfig {
  /** How many sizes the picture passes through: one more than it is halved. */
  readonly levels: number
  /** Whether there are transformers at the full size of the latents. */
  readonly attendsAtFullSize: boolean
  /** Whether there are layers over the frames of a film. */
  readonly temporal: boolean
}

/** The structure of a UNet under LDM names, or undefined for another kind of network. */
export function unetStructure(view: WeightView): UnetStructure | undefined {
  if (!view.has('input_blocks.0.0.weight') || !view.has('out.2.weight')) return undefined
  const blocks = Array.from({ length: countOf(view, 'input_blocks.') }, (_, i) => `input_blocks.${i}`)
  const halvings = blocks.filter((block) => view.has(`${block}.0.op.weight`))
  const fullSize = halvings[0] ? blocks.slice(0, blocks.indexOf(halvings[0])) : blocks
  return {
    ...readUnetConfig(view),
    levels: halvings.length + 1,
    attendsAtFullSize: fullSize.some((block) => view.has(`${block}.1.proj_in.weight`)),
    temporal: view.names.some((name) => /\.time_(stack|mix_blocks)\./.test(name)),
  }
}

/** Latents, and an inpainting network's mask and picture beside them. */
export const INPAINTING_CHANNELS = 9

/** Latents, and an instruction network's picture beside them. */
export const INSTRUCTED_CHANNELS = 8

/** The numbers of input channels that mean something here. */
export const knownInputs: readonly number[] = [4, INSTRUCTED_CHANNELS, INPAINTING_CHANNELS]
