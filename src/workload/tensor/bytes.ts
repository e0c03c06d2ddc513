/** 0 to 1 → 0 to 255 as the reference does it: times 255 in float32, clipped, then cut off, not rounded. */
export function toBytes(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.min(255, Math.max(0, Math.fround(values[i]! * 255)))
  return bytes
}

/** 0 to 255 → 0 to 1. */
export function fromBytes(bytes: Uint8Array): Float32Array {
  const values = new Float32Array(bytes.length)
  for (let i = 0; i < values.length; i++) values[i] = bytes[i]! / 255
  return values
}
