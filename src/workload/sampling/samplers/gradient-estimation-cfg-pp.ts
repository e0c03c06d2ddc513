import { addScaled } from '../../tensor/tensor.ts'
import { slope } from '../slope.ts'
import { gradientEstimation } from '../solvers/gradient-estimation.ts'
import { type PairStep, stepwiseOnPairs } from '../stepwise.ts'

/** Permenter and Yuan (2024), §4, in the manner of CFG++: the slope is that of the negative's guess. */
export default stepwiseOnPairs('gradient_estimation_cfg_pp', () =>
  gradientEstimation<PairStep>(({ x, sigma, next, denoised, negative }) => {
    const here = slope(x, sigma, negative)
    return { here, reached: addScaled(denoised, here, next) }
  }),
)
