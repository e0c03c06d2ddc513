import { joinedAlong, slicedAlong } from '../../tensor/axes.ts'
import { repeatRows, rowsOf } from '../../tensor/rows.ts'
import { filled, mapped, type Tensor } from '../../tensor/tensor.ts'

/** The axes of an image `[N, H, W, C]`; a mask `[N, H, W]` has one channel. */
export function shapeOf({ dims }: Tensor): { rows: number; height: number; width: number; channels: number } {
  const [rows = 0, height = 0, width = 0, channels = 1] = dims
  return { rows, height, width, channels }
}

/** Every value brought into 0 to 1. */
export const clamped = (t: Tensor): Tensor => mapped(t, (value) => Math.min(1, Math.max(0, value)))

/** `[N, H, W, C]` with `channels` of them: those beyond are left out, missing ones (transparency) are 1. */
export function withChannels(image: Tensor, channels: number): Tensor {
  const { rows, height, width, channels: own } = shapeOf(image)
  if (own === channels) return image
  if (own > channels) return slicedAlong(image, 3, 0, channels)
  return joinedAlong([image, filled([rows, height, width, channels - own], 1)], 3)
}

/** `t` with `rows` rows: its own, or its only one repeated. Throws when it has another number; `name` says what it is. */
export function broadcastRows(t: Tensor, rows: number, name: string): Tensor {
  if (rowsOf(t) !== 1 && rowsOf(t) !== rows)
    throw new Error(`${name} has ${rowsOf(t)} pictures, which does not go with ${rows}: give one, or as many`)
  return repeatRows(t, rows)
}

/** The rectangle of `[N, H, W, …]` that begins at column `x` and row `y`, as far as it lies inside. */
export function cropped(t: Tensor, x: number, y: number, width: number, height: number): Tensor {
  const { height: fullHeight, width: fullWidth } = shapeOf(t)
  const [right, bottom] = [Math.min(fullWidth, x + width), Math.min(fullHeight, y + height)]
  if (x < 0 || y < 0 || right <= x || bottom <= y)
    throw new Error(`a crop of ${width}×${height} at ${x}, ${y} has no part of a picture of ${fullWidth}×${fullHeight}`)
  return slicedAlong(slicedAlong(t, 1, y, bottom), 2, x, right)
}

/** `t` `[N, h, w, C]` laid at column `x` and row `y` on a ground `[N, height, width, C]` of `value`; it must fit. */
export function paddedTo(t: Tensor, x: number, y: number, width: number, height: number, value: number): Tensor {
  const { rows, height: own, width: ownWidth, channels } = shapeOf(t)
  const ground = filled([rows, height, width, ...t.dims.slice(3)], value)
  const line = ownWidth * channels
  for (let row = 0; row < rows; row++)
    for (let i = 0; i < own; i++) {
      const from = (row * own + i) * line
      ground.data.set(t.data.subarray(from, from + line), ((row * height + y + i) * width + x) * channels)
    }
  return ground
}
