import type { StoredTensor } from '../../weights/safetensors.ts'
import type { ReadInto } from '../../weights/tensor-reader.ts'
import type { Delta, Factor, WeightChange } from '../../weights/weight-change.ts'

/** A change to a linear layer that is a product of two thin matrices. */
export interface Factored {
  readonly rank: number
  readonly out: number
  readonly inner: number
  /** Fills `[rank, inner]`. */
  readDown(read: ReadInto, into: Float32Array): Promise<void>
  /** Fills `[out, rank]`, the change's strength included. */
  readUp(read: ReadInto, into: Float32Array): Promise<void>
}

/** Above this rank the product costs more at every run than weights that are worked out at every run. */
const LARGEST_PRODUCT = 128

/** `change` as thin matrices, or undefined when it is none of them. */
export function factored({ delta, dora, scale, strength, kept }: WeightChange): Factored | undefined {
  if (!delta || dora || kept !== 1) return undefined
  if (delta.kind === 'lora' && !delta.mid) return lora(delta, scale * strength)
  if (delta.kind === 'loha') return loha(delta.left, delta.right, scale * strength)
  return undefined
}

function lora({ up, down }: Extract<Delta, { kind: 'lora' }>, scale: number): Factored {
  const rank = down.dims[0]!
  return {
    rank,
    out: sizeOf(up) / rank,
    inner: sizeOf(down) / rank,
    readDown: (read, into) => read(down, into),
    async readUp(read, into) {
      await read(up, into)
      if (scale !== 1) for (let i = 0; i < into.length; i++) into[i]! *= scale
    },
  }
}

/**
 * The elementwise product of two products: `(Σₚ aₚbₚ)∘(Σᵩ cᵩdᵩ) = Σₚᵩ (aₚ∘cᵩ)(bₚ∘dᵩ)`, of the product of both ranks
 * (Hyeon-Woo et al. 2021).
 */
function loha(left: Factor, right: Factor, scale: number): Factored | undefined {
  if (!('a' in left && 'a' in right) || left.t || right.t) return undefined
  const [p, q] = [left.b.dims[0]!, right.b.dims[0]!]
  const [out, inner] = [sizeOf(left.a) / p, sizeOf(left.b) / p]
  if (p * q > LARGEST_PRODUCT) return undefined
  return {
    rank: p * q,
    out,
    inner,
    async readDown(read, into) {
      const [b, d] = [await readAll(left.b, read), await readAll(right.b, read)]
      for (let row = 0; row < p * q; row++) {
        const [fromB, fromD] = [Math.floor(row / q) * inner, (row % q) * inner]
        for (let i = 0; i < inner; i++) into[row * inner + i] = b[fromB + i]! * d[fromD + i]!
      }
    },
    async readUp(read, into) {
      const [a, c] = [await readAll(left.a, read), await readAll(right.a, read)]
      for (let row = 0; row < out; row++)
        for (let k = 0; k < p * q; k++)
          into[row * p * q + k] = a[row * p + Math.floor(k / q)]! * c[row * q + (k % q)]! * scale
    },
  }
}

async function readAll(stored: StoredTensor, read: ReadInto): Promise<Float32Array> {
  const values = new Float32Array(sizeOf(stored))
  await read(stored, values)
  return values
}

const sizeOf = ({ dims }: StoredTensor): number => dims.reduce((product, dim) => product * dim, 1)
