import { fma } from '../tensor/vector-math.ts'

/**
 * `count` evenly spaced float32 values from `start` to `end`, as torch.linspace rounds them: from both ends inwards
 * with one float32 step, each product and sum rounded once.
 */
export function linspace(start: number, end: number, count: number): Float32Array {
  if (count === 1) return Float32Array.of(start)
  const [first, last] = [Math.fround(start), Math.fround(end)]
  const step = Math.fround(Math.fround(last - first) / (count - 1))
  return Float32Array.from({ length: count }, (_, i) =>
    i < Math.floor(count / 2) ? fma(step, i, first) : fma(-step, count - 1 - i, last),
  )
}

/** The levels with the clean image's, 0, after them. */
export function endingInZero(sigmas: ArrayLike<number>): Float32Array {
  const ended = new Float32Array(sigmas.length + 1)
  ended.set(sigmas)
  return ended
}
