import { createGenerator } from '../tensor/random.ts'
import { scaled, sizeOf, type Tensor, tensor } from '../tensor/tensor.ts'
import type { NoiseSampler } from './sampler.ts'
import { seedSequence } from './seed-sequence.ts'

/** Words in the pool that seeds are drawn from. */
const poolSize = 24
/** Times whose place on the path is kept: a step asks for its own ends and, in two-stage solvers, a point between. */
const keptTimes = 4

/** To six decimals, exact halves to even. */
function onGrid(time: number): number {
  if (Number.isInteger(time * 64) || !Number.isInteger(time * 128)) return Number(time.toFixed(6))
  const below = Math.floor(time * 1e6)
  return (below % 2 === 0 ? below : below + 1) / 1e6
}

/**
 * A Brownian path between `t0` and `t1` that gives the same increment for the same interval however it is asked (Li et
 * al. 2020, "Scalable gradients for stochastic differential equations", the virtual Brownian tree): every interval is
 * halved down to a grid of 1e-6, its left half drawn from the bridge over the whole with a seed of the interval's own.
 * Returns the increment over [a, b] in shape `dims`; times beyond the ends are taken to be the ends.
 */
export function createBrownianTree(
  dims: readonly number[],
  t0: number,
  t1: number,
  entropy: bigint,
): (a: number, b: number) => Tensor {
  const size = sizeOf(dims)
  const draw = (spawnKey: readonly bigint[]) =>
    createGenerator(seedSequence(entropy, spawnKey, poolSize, 1)[0]!).randn(dims).data
  const kept = new Map<number, Float64Array>()
  let whole: Float32Array | undefined

  /** How far the path has moved from its start to `time`, summed over the intervals that end there. */
  const walk = (time: number): Float64Array => {
    const moved = new Float64Array(size)
    whole ??= draw([]).map((value) => value * Math.sqrt(t1 - t0))
    const increment = whole.slice()
    let [start, end] = [onGrid(t0), onGrid(t1)]
    // The key of an interval is its place among those of its depth, from the left.
    for (let depth = 0, key = 0; start < time && time < end; depth++) {
      const middle = onGrid(0.5 * (start + end))
      const share = (middle - start) / (end - start)
      const deviation = Math.sqrt(share * (end - middle))
      const normal = draw([BigInt(key), BigInt(depth)])
      const goesLeft = time <= middle
      for (let i = 0; i < size; i++) {
        const left = Math.fround(share * increment[i]! + deviation * normal[i]!)
        if (!goesLeft) moved[i]! += left
        increment[i] = goesLeft ? left : increment[i]! - left
      }
      if (goesLeft) end = middle
      else start = middle
      key = 2 * key + (goesLeft ? 0 : 1)
    }
    if (time >= end) for (let i = 0; i < size; i++) moved[i]! += increment[i]!
    return moved
  }

  const placeAt = (time: number): Float64Array => {
    const place = kept.get(time) ?? walk(time)
    kept.delete(time)
    kept.set(time, place)
    if (kept.size > keptTimes) kept.delete(kept.keys().next().value!)
    return place
  }

  return (a, b) => {
    const [from, to] = [placeAt(onGrid(a)), placeAt(onGrid(b))]
    const increment = new Float32Array(size)
    for (let i = 0; i < size; i++) increment[i] = to[i]! - from[i]!
    return tensor(dims, increment)
  }
}

/**
 * Noise for stochastic solvers that depends only on the levels of a step, not on how many steps there are: increments
 * of one Brownian path over the noise levels of a run, scaled to the standard deviation `scale`.
 */
export function createBrownianNoise(
  dims: readonly number[],
  sigmas: Float32Array,
  seed: bigint,
  scale = 1,
): NoiseSampler {
  const levels = sigmas.filter((sigma) => sigma > 0)
  const increment = createBrownianTree(dims, Math.min(...levels), Math.max(...levels), seed)
  return (sigma, next) => scaled(increment(next, sigma), -scale / Math.sqrt(sigma - next))
}
