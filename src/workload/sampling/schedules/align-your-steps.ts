import { roundHalfEven } from '../../tensor/round.ts'

/** The kinds of model that optimised levels were published for. */
export type OptimisedModel = 'SD1' | 'SDXL' | 'SVD'

/** Ten optimised steps each: Sabour et al. (2024), "Align your steps". */
const published: Readonly<Record<OptimisedModel, readonly number[]>> = {
  SD1: [
    14.6146412293, 6.4745760956, 3.8636745985, 2.694615152, 1.8841921177, 1.3943805092, 0.9642583904, 0.6523686016,
    0.3977456272, 0.1515232662, 0.0291671582,
  ],
  SDXL: [
    14.6146412293, 6.3184485287, 3.7681790315, 2.1811480769, 1.3405244945, 0.8620721141, 0.5550693289, 0.3798540708,
    0.2332364134, 0.1114188177, 0.0291671582,
  ],
  SVD: [700, 54.5, 15.886, 7.977, 4.248, 1.789, 0.981, 0.403, 0.173, 0.034, 0.002],
}

/**
 * The published levels, interpolated in ln σ where there are not ten steps, the last one replaced by 0; with `denoise`
 * below 1 the last part of them, at 0 none.
 */
export function alignedLevels(model: OptimisedModel, steps: number, denoise: number): Float32Array {
  if (denoise <= 0) return new Float32Array()
  const kept = denoise < 1 ? roundHalfEven(steps * denoise) : steps
  const levels = published[model]
  const all = steps + 1 === levels.length ? levels : interpolated(levels, steps + 1)
  const sigmas = Float32Array.from(all.slice(-(kept + 1)))
  sigmas[sigmas.length - 1] = 0
  return sigmas
}

function interpolated(levels: readonly number[], count: number): readonly number[] {
  const last = levels.length - 1
  return Array.from({ length: count }, (_, i) => {
    const at = (i * last) / (count - 1)
    const below = Math.min(Math.floor(at), last - 1)
    const part = at - below
    return Math.exp((1 - part) * Math.log(levels[below]!) + part * Math.log(levels[below + 1]!))
  })
}
