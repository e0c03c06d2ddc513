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

/** bfloat16 bits (the upper half of a float32) → float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const wide = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) wide[i] = bits[i]! << 16
  return new Float32Array(wide.buffer)
}
