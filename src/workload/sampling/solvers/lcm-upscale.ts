import { createGenerator } from '../../tensor/random.ts'
import { type ResizeMethod, resized } from '../../tensor/resize.ts'
import { roundHalfEven } from '../../tensor/round.ts'
import { addScaled } from '../../tensor/tensor.ts'
import type { Sampler } from '../sampler.ts'
import { stepwise } from '../stepwise.ts'

/** How latents grow on the way. */
export interface UpscaleOptions {
  /** How many times longer their sides are in the end. */
  readonly ratio: number
  /** In how many of the first steps they grow; in about half of them when it is not said. */
  readonly steps: number | undefined
  readonly method: ResizeMethod
}

/**
 * Multistep consistency sampling (Luo et al. 2023) whose guesses grow evenly to `ratio` times their sides. Its noise is
 * what the seed's generator gives after the noise of the start.
 */
export function lcmUpscale({ ratio, steps, method }: UpscaleOptions): Sampler {
  return stepwise('lcm_upscale', ({ sigmas, seed }, { dims }) => {
    const generator = createGenerator(seed)
    generator.randn(dims)
    const [, , height, width] = dims as [number, number, number, number]
    const growing = steps === undefined ? Math.max(Math.floor(sigmas.length / 2), 1) : Math.min(steps, sigmas.length)

    return ({ index, next, denoised }) => {
      const factor = 1 + ((ratio - 1) * (index + 1)) / growing
      const side = (length: number) => roundHalfEven(length * factor)
      const grown = index < growing ? resized(denoised, side(width), side(height), method, 'disabled') : denoised
      return next > 0 ? addScaled(grown, generator.randn(grown.dims), next) : grown
    }
  })
}
