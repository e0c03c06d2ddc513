import { type Tensor, tensor } from './tensor.ts'

/** The values before, along and behind `axis`: a tensor is `outer` runs of `length` blocks of `inner` values. */
function layoutOf({ dims }: Tensor, axis: number): { outer: number; length: number; inner: number } {
  const product = (part: readonly number[]) => part.reduce((all, dim) => all * dim, 1)
  return { outer: product(dims.slice(0, axis)), length: dims[axis]!, inner: product(dims.slice(axis + 1)) }
}

/** `dims` with another length along `axis`. */
const withLength = (dims: readonly number[], axis: number, length: number) =>
  dims.map((dim, i) => (i === axis ? length : dim))

/** Tensors that agree in every other axis, one behind the other along `axis`. */
export function joinedAlong(parts: readonly Tensor[], axis: number): Tensor {
  const layouts = parts.map((part) => layoutOf(part, axis))
  const total = layouts.reduce((sum, { length }) => sum + length, 0)
  const { outer, inner } = layouts[0]!
  const data = new Float32Array(outer * total * inner)
  let at = 0
  for (let run = 0; run < outer; run++) {
    for (const [i, part] of parts.entries()) {
      const block = layouts[i]!.length * inner
      data.set(part.data.subarray(run * block, (run + 1) * block), at)
      at += block
    }
  }
  return tensor(withLength(parts[0]!.dims, axis, total), data)
}

/** The entries of `t` from `from` up to but not including `to` along `axis`. */
export function slicedAlong(t: Tensor, axis: number, from: number, to: number): Tensor {
  const { outer, length, inner } = layoutOf(t, axis)
  const block = (to - from) * inner
  const data = new Float32Array(outer * block)
  for (let run = 0; run < outer; run++) {
    const start = (run * length + from) * inner
    data.set(t.data.subarray(start, start + block), run * block)
  }
  return tensor(withLength(t.dims, axis, to - from), data)
}

/** `t` with the order of its entries along `axis` turned round. */
export function flippedAlong(t: Tensor, axis: number): Tensor {
  const { outer, length, inner } = layoutOf(t, axis)
  const data = new Float32Array(t.data.length)
  for (let run = 0; run < outer; run++) {
    for (let i = 0; i < length; i++) {
      const start = (run * length + i) * inner
      data.set(t.data.subarray(start, start + inner), (run * length + length - 1 - i) * inner)
    }
  }
  return tensor(t.dims, data)
}
