import type { Tensor } from '../tensor/tensor.ts'
import type { ModelInputs } from './ports.ts'

/** What a control network adds to a UNet, in the order of its blocks; `undefined` leaves a block alone. */
export interface ControlResiduals {
  /** Added to what each input block gives (T2I adapters). */
  readonly input?: readonly (Tensor | undefined)[]
  /** Added to the skip connection of each input block (control networks). */
  readonly output?: readonly (Tensor | undefined)[]
  /** Added behind the middle block. */
  readonly middle?: Tensor | undefined
}

/** A network that looks at a hint picture and steers a UNet (Zhang et al. 2023; Mou et al. 2023). */
export interface ControlModel {
  /** Pixels of the hint a latent cell, along each side. */
  readonly hintScale: number
  /** The sides of the hint are rounded up to multiples of this many pixels; 1 unless given. */
  readonly hintMultiple?: number
  /**
   * `x` `[N, C, H, W]` as the UNet is fed it (without pictures beside it), a timestep a row, the UNet's other inputs,
   * and `hint` `[N, 3, H·hintScale, W·hintScale]`, 0 to 1 → residuals with N rows.
   */
  residuals(x: Tensor, timesteps: readonly number[], inputs: ModelInputs, hint: Tensor): Promise<ControlResiduals>
  /**
   * Of networks for several kinds of hints: the same that is told the number of its hint's kind, or with undefined
   * left to find out. Throws `execution-failed` when it has fewer kinds.
   */
  ofKind?(kind: number | undefined): ControlModel
}

/** A control network with its hint, as it hangs on conditioning entries; equal objects are run together. */
export interface AppliedControl {
  readonly control: ControlModel
  /** `[N, 3, H, W]` of any size, 0 to 1. */
  readonly hint: Tensor
  readonly strength: number
  /** The part of the run it applies to, as fractions of the way from noise (0) to image (1). */
  readonly range: { readonly start: number; readonly end: number }
  /** Whether it steers the negative conditioning as well when that has no control of its own. */
  readonly alsoNegative: boolean
}
