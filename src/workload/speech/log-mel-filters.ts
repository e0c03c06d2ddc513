/** Triangles over the places of a spectrum, each from its first place on. */
export interface MelFilter {
  readonly first: number
  readonly weights: Float64Array
}

/** Hz a mel below 1000 Hz on Slaney's scale; above, a step of the scale is a ratio. */
const LINEAR_STEP = 200 / 3
const LINEAR_TO = 1000
const LOG_STEP = Math.log(6.4) / 27

/**
 * `count` overlapping triangles of equal area, evenly spaced on Slaney's mel scale (Auditory Toolbox, 1998) from 0 Hz to
 * the highest frequency, over a spectrum of `places` from 0 to `highest` Hz.
 */
export function melFilters(count: number, places: number, highest: number): readonly MelFilter[] {
  const top = toMel(highest)
  const corners = Array.from({ length: count + 2 }, (_, i) => toHertz((top * i) / (count + 1)))
  return Array.from({ length: count }, (_, i) => {
    const [from, peak, to] = corners.slice(i, i + 3) as [number, number, number]
    const all = Float64Array.from({ length: places }, (_, place) => {
      const hertz = (highest * place) / (places - 1)
      const height = Math.min((hertz - from) / (peak - from), (to - hertz) / (to - peak))
      return (Math.max(0, height) * 2) / (to - from)
    })
    const first = Math.max(0, all.findIndex(Boolean))
    return { first, weights: all.slice(first, all.findLastIndex(Boolean) + 1) }
  })
}

function toMel(hertz: number): number {
  if (hertz < LINEAR_TO) return hertz / LINEAR_STEP
  return LINEAR_TO / LINEAR_STEP + Math.log(hertz / LINEAR_TO) / LOG_STEP
}

function toHertz(mel: number): number {
  const above = mel - LINEAR_TO / LINEAR_STEP
  return above < 0 ? mel * LINEAR_STEP : LINEAR_TO * Math.exp(above * LOG_STEP)
}
