import type { Tensor } from '../tensor/tensor.ts'
import type { AppliedControl } from './control.ts'

/** A rectangle of the picture: in latent cells, or in fractions of its sides. */
export interface Area {
  readonly unit: 'cells' | 'share'
  readonly height: number
  readonly width: number
  readonly y: number
  readonly x: number
}

/** Where an entry applies, more finely than an area can say. */
export interface ConditioningMask {
  /** `[N, H, W]` of any size, 0 to 1. */
  readonly mask: Tensor
  readonly strength: number
  /** Whether the network is shown only the rectangle that the mask fills. */
  readonly toBounds: boolean
}

/** What SDXL is told of the picture it was trained on, in pixels; the refiner knows its height and width only. */
export interface ImageSize {
  readonly width?: number
  readonly height?: number
  readonly cropW?: number
  readonly cropH?: number
  readonly targetWidth?: number
  readonly targetHeight?: number
}

/** A picture that inpainting and instruction networks see beside the noisy one. */
export interface ConcatPicture {
  /** In the autoencoder's scale: `[N, C, h, w]`. */
  readonly latent: Tensor
  /** 1 where the network draws anew: `[N, H, W]` of any size. */
  readonly mask?: Tensor | undefined
}

/** One entry of a CONDITIONING: an encoded text and where, when and how strongly it applies. */
export interface ConditioningEntry {
  /** `[1, tokens, width]` */
  readonly context: Tensor
  /** `[1, width]`, of encoders that give one. */
  readonly pooled?: Tensor | undefined
  readonly strength?: number
  readonly area?: Area
  readonly mask?: ConditioningMask
  /** The part of the run it applies to, as fractions of the way from noise (0) to image (1). */
  readonly range?: { readonly start: number; readonly end: number }
  readonly imageSize?: ImageSize
  /** How beautiful the picture should be, for the SDXL refiner. */
  readonly aestheticScore?: number
  readonly concat?: ConcatPicture
  /** Control networks that steer this entry, in the order in which they were applied; their residuals add up. */
  readonly controls?: readonly AppliedControl[]
}

/** What steers a diffusion model, as it flows along CONDITIONING wires. */
export type Conditioning = readonly ConditioningEntry[]
