import { blurred } from './blur.ts'
import { roundHalfEven } from './round.ts'
import { type Tensor, tensor } from './tensor.ts'

/** Keeps the square root away from its steep end. */
const EPSILON = 1e-6

/** Columns and rows to the eight neighbours, from the right on, towards the bottom. */
const NEIGHBOURS = [
  [1, 0],
  [1, 1],
  [0, 1],
  [-1, 1],
  [-1, 0],
  [-1, -1],
  [0, -1],
  [1, -1],
] as const

/**
 * The edges (Canny 1986) of grey pictures `[N, 1, H, W]`, 0 to 1: 1 on an edge, 0 elsewhere. The picture is smoothed by
 * a Gaussian of deviation 1 over five pixels; Sobel's filters, not normalised, give the slope that `low` and `high` are
 * compared with.
 */
export function edgesOf(grey: Tensor, low: number, high: number): Tensor {
  const [rows, , height, width] = grey.dims as [number, number, number, number]
  const smooth = blurred(grey, gaussian())
  const size = height * width
  const edges = new Float32Array(rows * size)
  for (let row = 0; row < rows; row++) {
    const slopes = slopesOf(smooth.data.subarray(row * size, (row + 1) * size), height, width)
    const ridges = thinned(slopes, height, width)
    follow(ridges, Math.fround(low), Math.fround(high), width, edges.subarray(row * size, (row + 1) * size))
  }
  return tensor([rows, 1, height, width], edges)
}

function gaussian(): Float32Array {
  const weights = Float32Array.from([-2, -1, 0, 1, 2], (x) => Math.exp((-x * x) / 2))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => weight / sum)
}

/** How steep the picture is and which of the eight neighbours lies uphill; its outermost pixels go on beyond its edge. */
interface Slopes {
  readonly steepness: Float32Array
  readonly uphill: Uint8Array
}

function slopesOf(grey: Float32Array, height: number, width: number): Slopes {
  const steepness = new Float32Array(grey.length)
  const uphill = new Uint8Array(grey.length)
  for (let y = 0; y < height; y++) {
    const [above, own, below] = [Math.max(0, y - 1), y, Math.min(height - 1, y + 1)].map(
      (line) => line * width,
    ) as Three
    for (let x = 0; x < width; x++) {
      const [left, right] = [Math.max(0, x - 1), Math.min(width - 1, x + 1)]
      const ahead = grey[above + right]! + 2 * grey[own + right]! + grey[below + right]!
      const behind = grey[above + left]! + 2 * grey[own + left]! + grey[below + left]!
      const under = grey[below + left]! + 2 * grey[below + x]! + grey[below + right]!
      const over = grey[above + left]! + 2 * grey[above + x]! + grey[above + right]!
      const [across, down] = [Math.fround(ahead - behind), Math.fround(under - over)]
      steepness[own + x] = Math.sqrt(across * across + down * down + EPSILON)
      uphill[own + x] = (roundHalfEven((Math.atan2(down, across) * 4) / Math.PI) + 8) % 8
    }
  }
  return { steepness, uphill }
}

type Three = [number, number, number]

/** The steepness of pixels that are steeper than both neighbours across the edge, 0 elsewhere; outside is level. */
function thinned({ steepness, uphill }: Slopes, height: number, width: number): Float32Array {
  const ridges = new Float32Array(steepness.length)
  const at = (x: number, y: number) => (x >= 0 && x < width && y >= 0 && y < height ? steepness[y * width + x]! : 0)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const i = y * width + x
      const [dx, dy] = NEIGHBOURS[uphill[i]!]!
      const own = steepness[i]!
      if (own > at(x + dx, y + dy) && own > at(x - dx, y - dy)) ridges[i] = own
    }
  return ridges
}

/** Marks ridges above `high`, and from them on all that hang together with them and are above `low`. */
function follow(ridges: Float32Array, low: number, high: number, width: number, edges: Float32Array): void {
  const open: number[] = []
  const mark = (i: number) => {
    edges[i] = 1
    open.push(i)
  }
  for (let i = 0; i < ridges.length; i++) if (ridges[i]! > high) mark(i)
  for (let i = open.pop(); i !== undefined; i = open.pop()) {
    const x = i % width
    for (const [dx, dy] of NEIGHBOURS) {
      const next = i + dy * width + dx
      if (x + dx < 0 || x + dx >= width || next < 0 || next >= ridges.length) continue
      if (edges[next] === 0 && ridges[next]! > low) mark(next)
    }
  }
}
