import type { Conditioning } from '../model/conditioning.ts'
import type { AppliedControl } from '../model/control.ts'
import type { DiffusionModel, InputRequest, ModelInputs, ModelSampling } from '../model/ports.ts'
import { type Placement, placementOf } from './placement.ts'
import { liesWithin, sameRegion } from './region.ts'

/** The noise levels that something applies at: from `start` down to `end`, both included. */
export interface Window {
  readonly start: number
  readonly end: number
}

/** A control network with the noise levels it steers at. */
export interface TimedControl {
  readonly applied: AppliedControl
  readonly window: Window
}

/** A conditioning entry as one run sees it. */
export interface ResolvedEntry {
  readonly inputs: ModelInputs
  readonly strength: number
  readonly placement: Placement
  /** Undefined: at all levels. */
  readonly window: Window | undefined
  readonly controls: readonly TimedControl[]
}

/** Whether something applies at noise level `sigma`. */
export const appliesAt = (window: Window | undefined, sigma: number): boolean =>
  window === undefined || (sigma <= window.start && sigma >= window.end)

/**
 * The entries of all conditionings of a run, the positive first and the negative second, with what each lends to the others: an area holds on
 * every side, and the positive's controls steer the others where they are made to. `size` is that of the latents.
 */
export function resolvedEntries(
  model: DiffusionModel,
  sides: readonly Conditioning[],
  request: InputRequest,
): readonly (readonly ResolvedEntry[])[] {
  const resolved = sides.map((conditioning, side) =>
    conditioning.map((entry): ResolvedEntry => {
      const { strength = 1, range, controls = [] } = entry
      return {
        inputs: model.inputsFor(entry, { ...request, negative: side === 1 }),
        strength,
        placement: placementOf(entry, request),
        window: range && windowOf(model.sampling, range),
        controls: controls.map((applied) => ({ applied, window: windowOf(model.sampling, applied.range) })),
      }
    }),
  )
  lendAreas(resolved)
  for (const other of resolved.slice(1)) lendControls(resolved[0]!, other)
  return resolved
}

function windowOf(sampling: ModelSampling, range: { readonly start: number; readonly end: number }): Window {
  return { start: sampling.percentToSigma(range.start), end: sampling.percentToSigma(range.end) }
}

/** Gives each entry that has an area one of the same area on every other side, made of what surrounds it there. */
function lendAreas(sides: ResolvedEntry[][]): void {
  for (const side of sides) {
    for (const entry of side) {
      const { area } = entry.placement
      if (!area) continue
      for (const other of sides.filter((one) => one !== side)) {
        const around = smallestAround(other, entry)
        const own = around?.placement.area
        if (around && !(own && sameRegion(own, area))) other.push({ ...entry, inputs: around.inputs })
      }
    }
  }
}

/** The entry with the smallest area that holds that of `inner`; one without an area holds everything. */
function smallestAround(
  entries: readonly ResolvedEntry[],
  { placement: { area: inner } }: ResolvedEntry,
): ResolvedEntry | undefined {
  let smallest: ResolvedEntry | undefined
  for (const entry of entries) {
    const { area } = entry.placement
    if (!area) {
      smallest ??= entry
    } else if (liesWithin(inner!, area)) {
      const best = smallest?.placement.area
      if (!best || best.height * best.width > area.height * area.width) smallest = entry
    }
  }
  return smallest
}

/**
 * Hangs the controls of the positive's entries that are meant for both sides on the other's, in turn, where the
 * other has none of its own. Entries with areas neither lend nor borrow.
 */
function lendControls(positive: readonly ResolvedEntry[], other: ResolvedEntry[]): void {
  const whole = (entry: ResolvedEntry) => !entry.placement.area
  const lent = positive.filter((entry) => whole(entry) && entry.controls.at(-1)?.applied.alsoNegative)
  const places = [...other.keys()].filter((i) => whole(other[i]!))
  if (places.length === 0 || places.some((i) => other[i]!.controls.length > 0)) return
  for (const [i, { controls }] of lent.entries()) {
    const place = places[i % places.length]!
    other[place] = { ...other[place]!, controls }
  }
}
