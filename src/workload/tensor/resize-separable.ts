import { type Tensor, tensor } from './tensor.ts'

/** What each value along one axis of the result is made of: `count[i]` neighbours from `taps · i` on. */
interface Taps {
  /** The most neighbours that one value has. */
  readonly taps: number
  readonly count: Int32Array
  readonly index: Int32Array
  readonly weight: Float32Array
}

type Kernel = 'nearest-exact' | 'bilinear' | 'area' | 'bicubic'

/**
 * `[N, C, H, W]` → `[N, C, height, width]`: one pass along the width, one along the height, without antialiasing and
 * with pixel centres at half steps (torch's `align_corners=False`).
 */
export function resizedSeparably(t: Tensor, width: number, height: number, kernel: Kernel): Tensor {
  const [rows, channels, oldHeight, oldWidth] = t.dims as [number, number, number, number]
  const planes = rows * channels
  let data = t.data
  if (width !== oldWidth) data = alongWidth(data, planes * oldHeight, oldWidth, width, tapsOf(kernel, oldWidth, width))
  if (height !== oldHeight)
    data = alongHeight(data, planes, oldHeight, width, height, tapsOf(kernel, oldHeight, height))
  return data === t.data ? t : tensor([rows, channels, height, width], data)
}

function alongWidth(from: Float32Array, lines: number, oldWidth: number, width: number, of: Taps): Float32Array {
  const { taps, count, index, weight } = of
  const to = new Float32Array(lines * width)
  for (let line = 0; line < lines; line++) {
    const start = line * oldWidth
    for (let x = 0; x < width; x++) {
      let sum = 0
      for (let k = x * taps, end = k + count[x]!; k < end; k++) sum += weight[k]! * from[start + index[k]!]!
      to[line * width + x] = sum
    }
  }
  return to
}

function alongHeight(
  from: Float32Array,
  planes: number,
  oldHeight: number,
  width: number,
  height: number,
  { taps, count, index, weight }: Taps,
): Float32Array {
  const to = new Float32Array(planes * height * width)
  const sums = new Float64Array(width)
  for (let plane = 0; plane < planes; plane++) {
    for (let y = 0; y < height; y++) {
      sums.fill(0)
      for (let k = y * taps, end = k + count[y]!; k < end; k++) {
        const start = (plane * oldHeight + index[k]!) * width
        const share = weight[k]!
        for (let x = 0; x < width; x++) sums[x]! += share * from[start + x]!
      }
      to.set(sums, (plane * height + y) * width)
    }
  }
  return to
}

function tapsOf(kernel: Kernel, size: number, newSize: number): Taps {
  if (kernel === 'area') return areaTaps(size, newSize)
  const scale = Math.fround(size / newSize)
  if (kernel === 'nearest-exact')
    return listed(newSize, 1, (i, put) => put(Math.min(Math.floor(Math.fround((i + 0.5) * scale)), size - 1), 1))
  const position = (i: number) => Math.fround(Math.fround(scale * (i + 0.5)) - 0.5)
  return kernel === 'bilinear' ? bilinearTaps(size, newSize, position) : bicubicTaps(size, newSize, position)
}

/** Adaptive average pooling: the mean over `[⌊i·in/out⌋, ⌈(i+1)·in/out⌉)`. */
function areaTaps(size: number, newSize: number): Taps {
  const begin = (i: number) => Math.floor((i * size) / newSize)
  const end = (i: number) => Math.ceil(((i + 1) * size) / newSize)
  return listed(newSize, Math.ceil(size / newSize) + 1, (i, put) => {
    for (let j = begin(i); j < end(i); j++) put(j, 1 / (end(i) - begin(i)))
  })
}

function bilinearTaps(size: number, newSize: number, position: (i: number) => number): Taps {
  return listed(newSize, 2, (i, put) => {
    const at = Math.max(0, position(i))
    const left = Math.min(Math.floor(at), size - 1)
    const share = Math.fround(at - left)
    put(left, 1 - share)
    put(Math.min(left + 1, size - 1), share)
  })
}

/** Cubic convolution (Keys 1981) with A = -0.75; beyond the border the outermost pixel is repeated. */
function bicubicTaps(size: number, newSize: number, position: (i: number) => number): Taps {
  const a = -0.75
  const near = (d: number) => ((a + 2) * d - (a + 3)) * d * d + 1
  const far = (d: number) => ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
  return listed(newSize, 4, (i, put) => {
    const left = Math.floor(position(i))
    const t = Math.fround(position(i) - left)
    const weights = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    for (const [k, weight] of weights.entries()) put(Math.min(Math.max(left + k - 1, 0), size - 1), weight)
  })
}

/** Collects what `fill` puts for each of `newSize` values, at most `taps` a value. */
function listed(
  newSize: number,
  taps: number,
  fill: (i: number, put: (index: number, weight: number) => void) => void,
): Taps {
  const count = new Int32Array(newSize)
  const index = new Int32Array(newSize * taps)
  const weight = new Float32Array(newSize * taps)
  for (let i = 0; i < newSize; i++)
    fill(i, (at, share) => {
      const k = i * taps + count[i]!++
      index[k] = at
      weight[k] = share
    })
  return { taps, count, index, weight }
}
