import { roundHalfEven } from './round.ts'

/** IEEE half-precision bits → float32, exactly. */
export function fromFloat16(bits: Uint16Array): Float32Array {
  const powers = Float64Array.from({ length: 31 }, (_, exponent) => 2 ** (exponent - 25))
  const values = new Float32Array(bits.length)
  for (let i = 0; i < bits.length; i++) {
    const half = bits[i]!
    const exponent = (half >> 10) & 31
    const fraction = half & 1023
    const magnitude =
      exponent === 31
        ? fraction
          ? Number.NaN
          : Number.POSITIVE_INFINITY
        : exponent === 0
          ? fraction * 2 ** -24
          : (1024 + fraction) * powers[exponent]!
    values[i] = half & 0x8000 ? -magnitude : magnitude
  }
  return values
}

/** float32 → IEEE half-precision bits: the nearest, of two the even one, infinity beyond the largest. */
export function toFloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length)
  return Uint16Array.from(words, (word, i) => {
    const sign = (word >>> 16) & 0x8000
    const magnitude = word & 0x7fffffff
    if (magnitude > 0x7f800000) return sign | 0x7e00
    if (magnitude >= 0x477ff000) return sign | 0x7c00
    // Below the smallest normal number the steps are 2^-24.
    if (magnitude < 0x38800000) return sign | roundHalfEven(Math.abs(values[i]!) * 2 ** 24)
    return sign | ((magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13)
  })
}

/** bfloat16 bits (the upper half of a float32) → float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const wide = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) wide[i] = bits[i]! << 16
  return new Float32Array(wide.buffer)
}
