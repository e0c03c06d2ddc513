import type { Tensor } from '../tensor/tensor.ts'
import type { Sampler, SamplingRun } from './sampler.ts'

/** One step of a sampler: from `x` at `sigma` to `next`. */
export interface Step {
  /** Which step of the run, from 0. */
  readonly index: number
  readonly x: Tensor
  readonly sigma: number
  readonly next: number
  /** The model's guess at the clean image for `x` at `sigma`. */
  readonly denoised: Tensor
}

/** Takes one step; gives x at the next level. */
export type Advance = (step: Step) => Tensor | Promise<Tensor>

/**
 * A sampler that visits each noise level in turn and asks the model there first. `begin` is called once a run, so its
 * closure may hold history; `levels` may replace the levels of the run by others.
 */
export function stepwise(
  name: string,
  begin: (run: SamplingRun, x: Tensor) => Advance,
  levels: (run: SamplingRun) => Float32Array = ({ sigmas }) => sigmas,
): Sampler {
  return Object.freeze({
    name,
    async sample(x: Tensor, run: SamplingRun) {
      const advance = begin(run, x)
      const sigmas = levels(run)
      const total = sigmas.length - 1
      for (let index = 0; index < total; index++) {
        run.signal.throwIfAborted()
        const sigma = sigmas[index]!
        const denoised = await run.denoise(x, sigma)
        x = await advance({ index, x, sigma, next: sigmas[index + 1]!, denoised })
        run.onStep?.(index + 1, total, denoised)
      }
      return x
    },
  })
}
