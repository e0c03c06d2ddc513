import { slicedAlong } from '../tensor/axes.ts'
import type { Tensor } from '../tensor/tensor.ts'

/** A rectangle of latent cells. */
export interface Region {
  readonly y: number
  readonly x: number
  readonly height: number
  readonly width: number
}

/** `[N, C, H, W]` → `[N, C, height, width]`: what lies in `region`. */
export function cutTo(t: Tensor, { y, x, height, width }: Region): Tensor {
  return slicedAlong(slicedAlong(t, 2, y, y + height), 3, x, x + width)
}

/** Whether two rectangles are the same one. */
export function sameRegion(a: Region, b: Region): boolean {
  return a.y === b.y && a.x === b.x && a.height === b.height && a.width === b.width
}

/** Whether `a` lies within `b`. */
export function liesWithin(a: Region, b: Region): boolean {
  return a.y >= b.y && a.x >= b.x && a.y + a.height <= b.y + b.height && a.x + a.width <= b.x + b.width
}
