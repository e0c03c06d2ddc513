import type { ModelInputs } from '../model/ports.ts'
import { repeatRows, rowsOf } from '../tensor/rows.ts'
import { isZero, mapped } from '../tensor/tensor.ts'
import { clipped, type Size, weightsWithin } from './placement.ts'
import { cutTo, type Region, sameRegion } from './region.ts'
import type { ResolvedEntry, Window } from './resolved-entries.ts'
import { passesOf, type Share, type SharedPass } from './shares.ts'

/** An entry in its place, before the entries beside it are known. */
interface Placed extends Omit<Share, 'weight'> {
  readonly entry: ResolvedEntry
}

/**
 * The passes of the network that make one guess for each of `sides` from `rows` latents of `size` at a noise level
 * where `applies` says what applies. Each cell's weights are shares of 1; entries without weight are left out.
 */
export function passesFor(
  sides: readonly (readonly ResolvedEntry[])[],
  rows: number,
  size: Size,
  applies: (window: Window | undefined) => boolean,
): readonly SharedPass[] {
  const regions: Region[] = []
  /** Equal rectangles as one object, so that a step cuts each out once. */
  const regionOf = (area: Region): Region | undefined => {
    const region = clipped(area, size)
    if (region.height === size.height && region.width === size.width) return undefined
    const known = regions.find((other) => sameRegion(other, region))
    if (!known) regions.push(region)
    return known ?? region
  }
  const shares = sides.flatMap((entries, side) => {
    const placed = entries
      .filter(({ window }) => applies(window))
      .map((entry): Placed => {
        const region = entry.placement.area && regionOf(entry.placement.area)
        const controls = entry.controls.filter(({ window }) => applies(window)).map(({ applied }) => applied)
        return { side, entry, region, controls, inputs: region ? cutInputs(entry.inputs, region) : entry.inputs }
      })
    return weighted(placed, rows, size)
  })
  return passesOf(shares, rows)
}

/** Pictures beside `x` are shown as much of as of `x`. */
function cutInputs(inputs: ModelInputs, region: Region): ModelInputs {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, input.dims.length === 4 ? cutTo(input, region) : input]),
  )
}

/** The shares of one conditioning's entries, whose weights add up to 1 at every cell that any of them reaches. */
function weighted(placed: readonly Placed[], rows: number, size: Size): readonly Share[] {
  if (placed.every(({ region, entry }) => !region && !entry.placement.mask)) {
    const total = placed.reduce((sum, { entry }) => sum + entry.strength, 0)
    return placed
      .filter(({ entry }) => entry.strength !== 0)
      .map(({ entry, ...share }) => ({ ...share, weight: entry.strength / total }))
  }
  const whole: Region = { y: 0, x: 0, ...size }
  const single = placed.map(({ entry, ...share }) => {
    const region = share.region ?? whole
    return { share, region, weights: weightsWithin(region, entry.placement, entry.strength, size) }
  })
  const planes = single.every(({ weights }) => rowsOf(weights) === 1) ? 1 : rows
  const parts = single.map(({ share, region, weights }) => ({
    share,
    cells: cellsOf(region, size, planes),
    weights: repeatRows(weights, planes),
  }))
  const totals = new Float32Array(planes * size.height * size.width)
  for (const { cells, weights } of parts) for (const [i, cell] of cells.entries()) totals[cell]! += weights.data[i]!
  return parts
    .filter(({ weights }) => !isZero(weights))
    .map(({ share, cells, weights }) => ({
      ...share,
      weight: mapped(weights, (weight, i) => (weight === 0 ? 0 : weight / totals[cells[i]!]!)),
    }))
}

/** Where in `[planes, H, W]` each cell of a region's `[planes, height, width]` lies. */
function cellsOf({ y, x, height, width }: Region, size: Size, planes: number): Uint32Array {
  return Uint32Array.from({ length: planes * height * width }, (_, i) => {
    const line = Math.floor(i / width)
    return (Math.floor(line / height) * size.height + y + (line % height)) * size.width + x + (i % width)
  })
}
