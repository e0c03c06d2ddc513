/** A dense float32 array with a shape. A plain value: it knows nothing of the device that made it. */
export interface Tensor {
  readonly dims: readonly number[]
  readonly data: Float32Array
}

/** How many values a tensor of shape `dims` holds. Throws a RangeError when a side is negative, as a wire may bring it. */
export function sizeOf(dims: readonly number[]): number {
  if (dims.some((dim) => dim < 0)) throw new RangeError(`a side cannot be negative: ${dims.join('×')}`)
  return dims.reduce((product, dim) => product * dim, 1)
}

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
  const { data } = t
  const values = new Float32Array(data.length)
  for (let i = 0; i < values.length; i++) values[i] = f(data[i]!, i)
  return tensor(t.dims, values)
}

/** `Σ weightᵢ · termᵢ`, elementwise over tensors of one shape, summed in double precision. */
export function combined(...terms: readonly (readonly [weight: number, term: Tensor])[]): Tensor {
  const [[a, { dims, data: x }], [b, { data: y }] = [0, terms[0]![1]], [c, { data: z }] = [0, terms[0]![1]]] =
    terms as readonly [Term, Term?, Term?]
  if (terms.length === 1) return scaled(terms[0]![1], a) // adding nought times infinity would not be nothing
  const sums = new Float32Array(x.length)
  // Samplers combine two or three; loops without an inner one are several times as fast.
  if (terms.length === 2) for (let i = 0; i < sums.length; i++) sums[i] = a * x[i]! + b * y[i]!
  else if (terms.length === 3) for (let i = 0; i < sums.length; i++) sums[i] = a * x[i]! + b * y[i]! + c * z[i]!
  else for (let i = 0; i < sums.length; i++) sums[i] = terms.reduce((sum, [w, { data }]) => sum + w * data[i]!, 0)
  return tensor(dims, sums)
}

type Term = readonly [weight: number, term: Tensor]

/** `a + b * scale`, elementwise. */
export function addScaled(a: Tensor, b: Tensor, scale: number): Tensor {
  const [left, right] = [a.data, b.data]
  const sum = new Float32Array(left.length)
  for (let i = 0; i < sum.length; i++) sum[i] = left[i]! + right[i]! * scale
  return tensor(a.dims, sum)
}

/** `a * factor`, elementwise. */
export function scaled(a: Tensor, factor: number): Tensor {
  const { data } = a
  const product = new Float32Array(data.length)
  for (let i = 0; i < product.length; i++) product[i] = data[i]! * factor
  return tensor(a.dims, product)
}

/** True when every value is nought. */
export function isZero(t: Tensor): boolean {
  return t.data.every((value) => value === 0)
}
