import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { sizeOf, type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'

/** Sum, mean and the ends of a flattened result, as the reference programs left them. */
export interface Summary {
  readonly shape: readonly number[]
  readonly first32: readonly number[]
  readonly last8: readonly number[]
  readonly sum: number
  readonly abs_mean: number
  readonly std: number
}

/** One tiny network of the goldens: its weights' names and shapes, and results by name. */
export type GoldenModel = Readonly<Record<string, unknown>> & {
  readonly keys: Readonly<Record<string, readonly number[]>>
}

/** `golden_models.json`: tiny networks whose weights follow from a formula. */
export const goldenModels = JSON.parse(readFileSync('test/fixtures/goldens/golden_models.json', 'utf8')) as Readonly<
  Record<string, GoldenModel>
>

const phase = (name: string) => (crc32(name) % 6283) / 1000

/** The weight `key` of shape `dims` by the goldens' rule. */
export function goldenWeight(key: string, dims: readonly number[]): Float32Array {
  const ph = phase(key)
  const fan = sizeOf(dims.slice(1))
  return Float32Array.from({ length: sizeOf(dims) }, (_, i) => {
    const s = Math.sin(0.7 * i + ph)
    if (dims.length > 1) return s * Math.sqrt(2 / fan)
    return key.endsWith('.weight') ? 1 + 0.1 * s : 0.05 * s
  })
}

/** The input `name` of shape `dims` by the goldens' rule. */
export function goldenInput(name: string, dims: readonly number[], scale = 1): Tensor {
  const ph = phase(name)
  return tensor(
    dims,
    Float32Array.from({ length: sizeOf(dims) }, (_, i) => scale * 1.2 * Math.sin(0.37 * i + ph)),
  )
}

/** How far `t` is from `golden` at worst, in units of its standard deviation. */
export function deviation(t: Tensor, golden: Omit<Summary, 'sum' | 'abs_mean'>): number {
  if (String(t.dims) !== String(golden.shape)) throw new Error(`shape ${t.dims}, golden ${golden.shape}`)
  const ends = [...t.data.slice(0, golden.first32.length), ...t.data.slice(-golden.last8.length)]
  const wanted = [...golden.first32, ...golden.last8]
  return Math.max(...ends.map((value, i) => Math.abs(value - wanted[i]!))) / golden.std
}
