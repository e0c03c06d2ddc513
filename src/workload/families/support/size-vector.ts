import { WorkloadError } from '../../base/errors.ts'
import type { ModelInputs } from '../../model/ports.ts'
import { joinedAlong } from '../../tensor/axes.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'

/** Turns the pooled text `[1, P]` and the numbers that stand for a picture's sizes into what a network takes. */
export type Describe = (pooled: Tensor | undefined, numbers: readonly number[]) => ModelInputs

/** For networks that take all of it as one vector `y` of `width` values. */
export const asVector =
  (width: number): Describe =>
  (pooled, numbers) => ({ y: sizeVector(pooled, numbers, width) })

/** Values that each number becomes. */
const SINUSOIDS = 256

/**
 * SDXL's vector beside the timestep (Podell et al. 2023): the pooled text `[1, P]` and behind it each number as
 * sinusoids, cosines first → `[1, P + 256 · numbers]`. Throws `execution-failed` when the text has no pooled vector, as
 * that of a text encoder for another family has not, or one of another width than `wanted` leaves.
 */
export function sizeVector(pooled: Tensor | undefined, numbers: readonly number[], wanted: number): Tensor {
  const width = wanted - SINUSOIDS * numbers.length
  if (!pooled)
    throw new WorkloadError('execution-failed', 'the conditioning has no pooled vector, which this model needs')
  if (pooled.dims[1] !== width)
    throw new WorkloadError(
      'execution-failed',
      `the model takes pooled vectors of ${width} values, the conditioning has one of ${pooled.dims[1]}: was its text encoder made for another model?`,
    )
  return joinedAlong([pooled, ...numbers.map((number) => sinusoids(number, SINUSOIDS))], 1)
}

/** `value` as cosines and sines `[1, width]` of falling frequencies, computed in float32 (Vaswani et al. 2017). */
export function sinusoids(value: number, width: number): Tensor {
  const half = width / 2
  const data = new Float32Array(width)
  for (let k = 0; k < half; k++) {
    const frequency = Math.fround(Math.exp(Math.fround(Math.fround(-Math.log(10_000) * k) / half)))
    const angle = Math.fround(Math.fround(value) * frequency)
    data[k] = Math.cos(angle)
    data[half + k] = Math.sin(angle)
  }
  return tensor([1, width], data)
}
