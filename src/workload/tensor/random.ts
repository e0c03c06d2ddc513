import { createMersenneTwister } from './mersenne-twister.ts'
import { sizeOf, type Tensor, tensor } from './tensor.ts'
import { writeNormalPair } from './vector-math.ts'

/** Values are made from uniforms in blocks: pairs of the places j and j + 8. */
const block = 16
const half = block / 2

/** A stream of random numbers; every draw moves it on. */
export interface RandomGenerator {
  /** Standard normal values in float32. */
  randn(dims: readonly number[]): Tensor
  /** Standard normal values in double precision; another stream than the float32 one. */
  randnDouble(count: number): Float64Array
  /** A whole number from `low` up to but not including `high`. */
  randint(low: number, high: number): number
}

/**
 * The CPU generator of torch, value for value: same seed, same noise. Only the seed's low 32 bits count, as there.
 * Drawing fewer than 16 values takes another path than drawing more, so one draw of 32 is not two of 16.
 */
export function createGenerator(seed: bigint | number): RandomGenerator {
  const next = createMersenneTwister(Number(BigInt.asUintN(32, BigInt(seed))))
  const next24 = () => next() & 0xffffff
  const next53 = () => {
    const high = next() & 0x1fffff
    return (high * 2 ** 32 + next()) / 2 ** 53
  }
  let spare: number | undefined

  /** One value at a time in double precision, every second one kept back from the pair before. */
  const normal = (): number => {
    if (spare !== undefined) {
      const value = spare
      spare = undefined
      return value
    }
    const angle = 2 * Math.PI * next53()
    const radius = Math.sqrt(-2 * Math.log1p(-next53()))
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }

  return Object.freeze({
    randn(dims: readonly number[]) {
      const out = new Float32Array(sizeOf(dims))
      if (out.length < block) return tensor(dims, out.map(normal))
      const uniforms = new Int32Array(out.length)
      transformInBlocks(uniforms, next24, (at) => {
        for (let j = at; j < at + half; j++) writeNormalPair(out, j, uniforms[j]!, uniforms[j + half]!)
      })
      return tensor(dims, out)
    },

    randnDouble(count: number) {
      const out = new Float64Array(count)
      if (count < block) return out.map(normal)
      transformInBlocks(out, next53, (at) => {
        for (let j = at; j < at + half; j++) {
          const radius = Math.sqrt(-2 * Math.log(1 - out[j]!))
          const angle = 2 * Math.PI * out[j + half]!
          out[j] = radius * Math.cos(angle)
          out[j + half] = radius * Math.sin(angle)
        }
      })
      return out
    },

    randint: (low: number, high: number) => low + (next() % (high - low)),
  })
}

/**
 * Fills `uniforms` with draws and transforms it block by block. When blocks do not fill it, the last 16 places get
 * fresh draws and are transformed as well, over what stood there.
 */
function transformInBlocks(
  uniforms: Int32Array | Float64Array,
  draw: () => number,
  transform: (at: number) => void,
): void {
  const { length } = uniforms
  for (let i = 0; i < length; i++) uniforms[i] = draw()
  for (let at = 0; at <= length - block; at += block) transform(at)
  if (length % block === 0) return
  for (let i = length - block; i < length; i++) uniforms[i] = draw()
  transform(length - block)
}
