import { Float16Array } from '@petamoriken/float16'

/** IEEE half-precision bits → float32. */
export function fromFloat16(bits: Uint16Array): Float32Array {
  const { buffer, byteOffset, length } = bits.byteOffset % 2 === 0 ? bits : bits.slice()
  return Float32Array.from(new Float16Array(buffer, byteOffset, length))
}

/** bfloat16 bits (the upper half of a float32) → float32. */
export function fromBfloat16(bits: Uint16Array): Float32Array {
  const wide = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) wide[i] = bits[i]! << 16
  return new Float32Array(wide.buffer)
}
