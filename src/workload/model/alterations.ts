/** A change to how a UNet computes, rather than to its weights. */
export type Alteration = FreeU | HyperTile | Downscale

/** FreeU (Si et al. 2023): features of the decoder scaled up, low frequencies of the skip connections scaled down. */
export interface FreeU {
  readonly kind: 'freeU'
  readonly version: 1 | 2
  readonly b1: number
  readonly b2: number
  readonly s1: number
  readonly s2: number
}

/** HyperTile: self-attention within tiles of the picture instead of over all of it. */
export interface HyperTile {
  readonly kind: 'hyperTile'
  /** Pixels of a tile's side. */
  readonly tileSize: number
  readonly swapSize: number
  readonly maxDepth: number
  readonly scaleDepth: boolean
}

/** Kohya's Deep Shrink: the picture is computed smaller behind one input block during the first steps. */
export interface Downscale {
  readonly kind: 'downscale'
  readonly block: number
  readonly factor: number
  readonly afterSkip: boolean
  readonly downscaleMethod: string
  readonly upscaleMethod: string
  /** Active while σ is at most `start` and at least `end`. */
  readonly sigmas: { readonly start: number; readonly end: number }
}
