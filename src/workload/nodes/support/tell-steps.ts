import { sketchOf } from '../../image/sketch.ts'
import type { DiffusionModel } from '../../model/ports.ts'
import type { LatentRun } from '../../sampling/driver.ts'
import type { NodeContext } from './define.ts'

/** Tells each step of a sampler, with its guess at the clean image for those who look. */
export function tellSteps(
  { latent: { colours } }: DiffusionModel,
  { progress }: Pick<NodeContext, 'progress'>,
): NonNullable<LatentRun['onStep']> {
  return (step, total, denoised) => progress(step, total, colours && (() => sketchOf(denoised, colours)))
}
