import type { GuidanceHook } from '../../model/guidance.ts'
import { addScaled, combined, mapped, scaled, type Tensor, zeros } from '../../tensor/tensor.ts'
import { channelProducts } from '../row-statistics.ts'

const signedRoot = (value: number) => Math.sign(value) * Math.sqrt(Math.abs(value))

/**
 * Goes from the guided guess towards the positive's times cfg the more, the less the two sides of guidance look alike:
 * cosines of signed roots, averaged over the picture, weigh them.
 */
export const alignedGuidance: GuidanceHook = Object.freeze({
  after(denoised, { positive, negative = zeros(positive.dims), cfg }) {
    const leap = scaled(positive, cfg)
    const merged = combined([0.5, leap], [0.5, denoised])
    const weight = 2 * (meanCosine(mapped(scaled(negative, cfg), signedRoot), mapped(merged, signedRoot)) + 1)
    return addScaled(scaled(denoised, weight / 4), leap, (4 - weight) / 4)
  },
} satisfies GuidanceHook)

/** The cosine between the channels of two pictures, averaged over their cells. */
function meanCosine(a: Tensor, b: Tensor): number {
  const length = (t: Tensor) => channelProducts(t, t).map((square) => Math.max(Math.sqrt(square), 1e-8))
  const [lengthA, lengthB] = [length(a), length(b)]
  const cosines = channelProducts(a, b).map((product, cell) => product / (lengthA[cell]! * lengthB[cell]!))
  return cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length
}
