/** A dense float32 array with a shape. A plain value: it knows nothing of the device that made it. */
export interface Tensor {
  readonly dims: readonly number[]
  readonly data: Float32Array
}

/** How many values a tensor of shape `dims` holds. */
export const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1)

/** A tensor over `data`, which is not copied. Throws a RangeError when shape and length disagree. */
export function tensor(dims: readonly number[], data: Float32Array): Tensor {
  if (sizeOf(dims) !== data.length)
    throw new RangeError(`shape [${dims}] needs ${sizeOf(dims)} values, got ${data.length}`)
  return Object.freeze({ dims, data })
}

/** A tensor of noughts. */
export function zeros(dims: readonly number[]): Tensor {
  return tensor(dims, new Float32Array(sizeOf(dims)))
}

/** A tensor that holds `value` everywhere. */
export function filled(dims: readonly number[], value: number): Tensor {
  return tensor(dims, new Float32Array(sizeOf(dims)).fill(value))
}

/** The same data under another shape. */
export function reshaped(t: Tensor, dims: readonly number[]): Tensor {
  return tensor(dims, t.data)
}

/** `f` of every value. */
export function mapped(t: Tensor, f: (value: number, i: number) => number): Tensor {
  return tensor(t.dims, t.data.map(f))
}

/** `Σ weightᵢ · termᵢ`, elementwise over tensors of one shape: the one fused operation samplers need. */
export function combined(...terms: readonly (readonly [weight: number, term: Tensor])[]): Tensor {
  const [[, first]] = terms as readonly [readonly [number, Tensor]]
  const sum = new Float64Array(first.data.length)
  for (const [weight, { data }] of terms) for (let i = 0; i < sum.length; i++) sum[i]! += weight * data[i]!
  return tensor(first.dims, Float32Array.from(sum))
}

/** `a + b * scale`, elementwise. */
export function addScaled(a: Tensor, b: Tensor, scale: number): Tensor {
  const sum = new Float32Array(a.data.length)
  for (let i = 0; i < sum.length; i++) sum[i] = a.data[i]! + b.data[i]! * scale
  return tensor(a.dims, sum)
}

/** `a * factor`, elementwise. */
export function scaled(a: Tensor, factor: number): Tensor {
  return mapped(a, (value) => value * factor)
}

/** True when every value is nought. */
export function isZero(t: Tensor): boolean {
  return t.data.every((value) => value === 0)
}
