import type { StoredTensor } from './safetensors.ts'

/** A matrix as it is, or as the product `a · b`; with a core `t` `[i, j, h, w]` as `Σᵢⱼ t·aᵢₚ·bⱼᵣ` (Tucker). */
export type Factor =
  | { readonly whole: StoredTensor }
  | { readonly a: StoredTensor; readonly b: StoredTensor; readonly t?: StoredTensor | undefined }

/** What is added to a weight `[out, in, …]`, in the notation of LyCORIS (Yeh et al. 2023). */
export type Delta =
  /** `up · down`; `mid` `[r, r, h, w]` stands between them (LoCon). Linear layers and convolutions alike. */
  | {
      readonly kind: 'lora'
      readonly up: StoredTensor
      readonly down: StoredTensor
      readonly mid?: StoredTensor | undefined
    }
  /** The elementwise product of two factors. */
  | { readonly kind: 'loha'; readonly left: Factor; readonly right: Factor }
  /** The Kronecker product of two factors. */
  | { readonly kind: 'lokr'; readonly left: Factor; readonly right: Factor }
  /** A tensor of the weight's own size. */
  | { readonly kind: 'full'; readonly values: ChangedTensor }
  /** As `full`, but it takes the weight's place. */
  | { readonly kind: 'set'; readonly values: ChangedTensor }

/** A change to one weight. */
export interface WeightChange {
  /** Absent when the weight is only multiplied. */
  readonly delta?: Delta | undefined
  /** What the delta is multiplied with: its file's alpha over its rank. */
  readonly scale: number
  /** The lengths that the changed weight's columns or rows are brought to (DoRA, Liu et al. 2024). */
  readonly dora?: StoredTensor | undefined
  readonly strength: number
  /** What the weight itself is multiplied with before. */
  readonly kept: number
}

/** A stored tensor and what is done to it before it is used, in order. */
export interface ChangedTensor extends StoredTensor {
  readonly changes?: readonly WeightChange[] | undefined
}

/** How many values a delta stands for. */
export function deltaSize(delta: Delta): number {
  const size = ({ dims }: StoredTensor) => dims.reduce((product, dim) => product * dim, 1)
  const factorSize = (factor: Factor): number => {
    if ('whole' in factor) return size(factor.whole)
    const { a, b, t } = factor
    if (t) return (a.dims[1]! * b.dims[1]! * size(t)) / (t.dims[0]! * t.dims[1]!)
    return a.dims[0]! * (size(b) / b.dims[0]!)
  }
  switch (delta.kind) {
    case 'lora': {
      const { up, down, mid } = delta
      const kernel = mid ? size(mid) / (mid.dims[0]! * mid.dims[1]!) : 1
      return (size(up) / up.dims[1]!) * (size(down) / down.dims[0]!) * kernel
    }
    case 'loha':
      return factorSize(delta.left) === factorSize(delta.right) ? factorSize(delta.left) : Number.NaN
    case 'lokr':
      return factorSize(delta.left) * factorSize(delta.right)
    default:
      return size(delta.values)
  }
}
