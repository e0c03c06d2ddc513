/**
 * Single-precision ln, sin and cos as vectorised builds of torch compute them: the polynomials of Moshier's Cephes
 * library, each a·b + c rounded once. Any other rounding would give other noise in the last bit.
 */

const fround = Math.fround

/** a·b + c of float32 values, rounded once to float32. */
export function fma(a: number, b: number, c: number): number {
  const product = a * b // exact: 48 bits
  const sum = product + c
  const rounded = fround(sum)
  const beyond = 2 * sum - rounded
  // Rounding twice goes wrong only when the double lies exactly between two floats; then what it lost decides.
  if (beyond === rounded || fround(beyond) !== beyond) return rounded
  const carried = sum - product
  const lost = product - (sum - carried) + (c - carried)
  return lost !== 0 && lost > 0 === beyond > rounded ? beyond : rounded
}

const lnCoefficients = Float32Array.of(
  7.0376836292e-2,
  -1.151461031e-1,
  1.167699874e-1,
  -1.2420140846e-1,
  1.4249322787e-1,
  -1.6668057665e-1,
  2.0000714765e-1,
  -2.4999993993e-1,
  3.3333331174e-1,
)
const rootHalf = fround(0.7071067811865475)
const lnTwoLow = fround(-2.1219444e-4)
const lnTwoHigh = fround(0.693359375)

/** ln(k / 2²⁴) for a whole k from 1 to 2²⁴. */
function lnOfFraction(k: number): number {
  const bits = 32 - Math.clz32(k)
  const mantissa = k / (1 << bits)
  const below = mantissa < rootHalf
  const exponent = below ? bits - 25 : bits - 24
  const x = below ? mantissa - 1 + mantissa : mantissa - 1
  const square = fround(x * x)
  let y = lnCoefficients[0]!
  for (let i = 1; i < 9; i++) y = fma(y, x, lnCoefficients[i]!)
  y = fma(fround(y * x), square, fround(exponent * lnTwoLow))
  y = fma(-square, 0.5, y)
  return fma(exponent, lnTwoHigh, fround(x + y))
}

const tau = fround(2 * Math.PI)
const fourOverPi = fround(1.27323954473516)
const [pi1, pi2, pi3] = [fround(-0.78515625), fround(-2.4187564849853516e-4), fround(-3.774894977445941e-8)] as const
const [c0, c1, c2] = [
  fround(2.443315711809948e-5),
  fround(-1.388731625493765e-3),
  fround(4.166664568298827e-2),
] as const
const [s0, s1, s2] = [fround(-1.9515295891e-4), fround(8.3321608736e-3), fround(-1.6666654611e-1)] as const

/**
 * Two independent normal values from two 24-bit uniforms (Box and Muller 1958), into `out[at]` and `out[at + 8]`:
 * √(-2 ln(1 - k1/2²⁴)) times the cosine and the sine of 2π·k2/2²⁴.
 */
export function writeNormalPair(out: Float32Array, at: number, k1: number, k2: number): void {
  const radius = fround(Math.sqrt(-2 * lnOfFraction(0x1000000 - k1)))
  const angle = fround(tau * (k2 / 0x1000000))

  const octant = (Math.trunc(fround(angle * fourOverPi)) + 1) & ~1
  const x = fma(octant, pi3, fma(octant, pi2, fma(octant, pi1, angle)))
  const square = fround(x * x)
  const cosine = fround(fma(fround(fma(fma(c0, square, c1), square, c2) * square), square, fround(square * -0.5)) + 1)
  const sine = fma(fround(fma(fma(s0, square, s1), square, s2) * square), x, x)

  const swapped = (octant & 2) !== 0
  const cos = swapped ? sine : cosine
  const sin = swapped ? cosine : sine
  out[at] = radius * (((octant - 2) & 4) === 0 ? -cos : cos)
  out[at + 8] = radius * ((octant & 4) !== 0 ? -sin : sin)
}
