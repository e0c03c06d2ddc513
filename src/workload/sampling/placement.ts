import { WorkloadError } from '../base/errors.ts'
import type { Area, ConditioningEntry, ConditioningMask } from '../model/conditioning.ts'
import { resized } from '../tensor/resize.ts'
import { roundHalfEven } from '../tensor/round.ts'
import { rowsOf } from '../tensor/rows.ts'
import { reshaped, scaled, type Tensor } from '../tensor/tensor.ts'
import type { Region } from './region.ts'

/** Where in latents of one size an entry applies. */
export interface Placement {
  /** As it was asked for: it may reach beyond the picture. */
  readonly area: Region | undefined
  /** `[N, H, W]`, in the size of the latents. */
  readonly mask: Tensor | undefined
}

/** The size of latents, in cells. */
export interface Size {
  readonly height: number
  readonly width: number
}

/** How many cells the weight of an area rises over at its inner sides. */
const featherCells = 8
/** The smallest sides that a mask is given as an area. */
const leastBounds = 8

/** Where `entry` applies in latents of `size`. */
export function placementOf({ area, mask }: ConditioningEntry, size: Size): Placement {
  const sizedMask = mask && sizedMaskOf(mask, size)
  return {
    area: mask?.toBounds ? boundsOf(sizedMask!) : area && inCells(area, size),
    mask: sizedMask && mask ? scaled(sizedMask, mask.strength) : undefined,
  }
}

function inCells(area: Area, size: Size): Region {
  if (area.unit === 'cells') return area
  return {
    height: Math.max(1, roundHalfEven(area.height * size.height)),
    width: Math.max(1, roundHalfEven(area.width * size.width)),
    y: roundHalfEven(area.y * size.height),
    x: roundHalfEven(area.x * size.width),
  }
}

function sizedMaskOf({ mask }: ConditioningMask, { height, width }: Size): Tensor {
  const [h, w] = mask.dims.slice(-2) as [number, number]
  const rows = mask.data.length / (h * w)
  if (h === height && w === width) return reshaped(mask, [rows, h, w])
  const grown = resized(reshaped(mask, [rows, 1, h, w]), width, height, 'bilinear', 'disabled')
  return reshaped(grown, [rows, height, width])
}

/** The rectangle that holds every value of a mask `[N, H, W]` that is not nought. */
function boundsOf(mask: Tensor): Region {
  const [, height, width] = mask.dims as [number, number, number]
  let [top, left, bottom, right] = [height, width, -1, -1]
  for (let i = 0; i < mask.data.length; i++) {
    if (mask.data[i] === 0) continue
    const [y, x] = [Math.floor(i / width) % height, i % width]
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
    left = Math.min(left, x)
    right = Math.max(right, x)
  }
  if (bottom < 0) return { y: 0, x: 0, height: leastBounds, width: leastBounds }
  const side = (from: number, to: number) => Math.max(leastBounds, to - from + 1)
  return { y: top, x: left, height: side(top, bottom), width: side(left, right) }
}

/** The part of `area` that lies in the picture. Throws `execution-failed` when none does. */
export function clipped(area: Region, size: Size): Region {
  const height = Math.min(size.height - area.y, area.height)
  const width = Math.min(size.width - area.x, area.width)
  if (height > 0 && width > 0) return { y: area.y, x: area.x, height, width }
  throw new WorkloadError(
    'execution-failed',
    `a conditioning area begins at ${area.x}, ${area.y}, outside the latents of ${size.width}×${size.height} cells`,
  )
}

/**
 * How much an entry counts at each cell of its region `[M, height, width]`: its mask, or 1; an area without a mask
 * fades out towards the sides that lie inside the picture.
 */
export function weightsWithin(region: Region, { area, mask }: Placement, strength: number, size: Size): Tensor {
  const rows = mask ? rowsOf(mask) : 1
  const { y, x, height, width } = region
  const data = new Float32Array(rows * height * width).fill(strength)
  if (mask) {
    const [, maskHeight, maskWidth] = mask.dims
    if (maskHeight !== size.height || maskWidth !== size.width)
      throw new WorkloadError('execution-failed', 'a conditioning mask needs latents that keep their size')
    for (let line = 0; line < rows * height; line++) {
      const from = (Math.floor(line / height) * size.height + y + (line % height)) * size.width + x
      for (let i = 0; i < width; i++) data[line * width + i]! *= mask.data[from + i]!
    }
  } else if (area) {
    const [down, across] = [fade(y, height, size.height), fade(x, width, size.width)]
    for (let i = 0; i < data.length; i++) data[i]! *= down[Math.floor(i / width)]! * across[i % width]!
  }
  return { dims: [rows, height, width], data }
}

/** The weights along one side of an area of `length` cells that begins at `start` of `whole`. */
function fade(start: number, length: number, whole: number): Float32Array {
  const weights = new Float32Array(length).fill(1)
  const reach = Math.min(featherCells, Math.floor(length / 4))
  for (let t = 0; t < reach; t++) {
    if (start !== 0) weights[t]! *= (t + 1) / reach
    if (start + length < whole) weights[length - 1 - t]! *= (t + 1) / reach
  }
  return weights
}
