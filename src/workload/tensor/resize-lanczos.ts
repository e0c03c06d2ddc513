import { fromBytes, toBytes } from './bytes.ts'
import { type Tensor, tensor } from './tensor.ts'

/** Weights in fixed point: what Pillow keeps of an 8-bit product without overflow. */
const PRECISION_BITS = 22

/** For each pixel of the result along one axis: where its neighbours begin, how many, and their fixed-point weights. */
interface Window {
  readonly size: number
  readonly begin: Int32Array
  readonly count: Int32Array
  readonly weight: Int32Array
}

/**
 * `[N, C, H, W]`, 0 to 1, → `[N, C, height, width]` through 8 bits, exactly as Pillow's LANCZOS filter does it on 8-bit
 * images: width first, then height, each pass rounded to bytes. Four channels are resized with premultiplied alpha.
 */
export function resizedLikePillow(t: Tensor, width: number, height: number): Tensor {
  const [rows, channels, oldHeight, oldWidth] = t.dims as [number, number, number, number]
  const across = width === oldWidth ? undefined : windowOf(oldWidth, width)
  const down = height === oldHeight ? undefined : windowOf(oldHeight, height)
  const result = new Float32Array(rows * channels * height * width)
  for (let row = 0; row < rows; row++) {
    const image = t.data.subarray((row * t.data.length) / rows, ((row + 1) * t.data.length) / rows)
    let bytes = toBytes(image)
    if (channels === 4 && (across || down)) premultiply(bytes)
    if (across) bytes = alongWidth(bytes, channels * oldHeight, oldWidth, across)
    if (down) bytes = alongHeight(bytes, channels, oldHeight, width, down)
    if (channels === 4 && (across || down)) unpremultiply(bytes)
    result.set(fromBytes(bytes), row * bytes.length)
  }
  return tensor([rows, channels, height, width], result)
}

/** Lanczos with three lobes, stretched when shrinking so that no pixel is skipped. */
function windowOf(size: number, newSize: number): Window {
  const scale = size / newSize
  const stretch = Math.max(1, scale)
  const support = 3 * stretch
  const width = Math.ceil(support) * 2 + 1
  const begin = new Int32Array(newSize)
  const count = new Int32Array(newSize)
  const weight = new Int32Array(newSize * width)
  for (let i = 0; i < newSize; i++) {
    const centre = (i + 0.5) * scale
    begin[i] = Math.max(0, Math.trunc(centre - support + 0.5))
    count[i] = Math.min(size, Math.trunc(centre + support + 0.5)) - begin[i]!
    const shares = Array.from({ length: count[i]! }, (_, k) => lanczos((k + begin[i]! - centre + 0.5) / stretch))
    const sum = shares.reduce((total, share) => total + share, 0)
    for (const [k, share] of shares.entries()) weight[i * width + k] = toFixedPoint(share / sum)
  }
  return { size: width, begin, count, weight }
}

function lanczos(x: number): number {
  if (x < -3 || x >= 3) return 0
  return sinc(x) * sinc(x / 3)
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI)
}

/** A half is rounded away from nought. */
function toFixedPoint(value: number): number {
  return Math.trunc(value * 2 ** PRECISION_BITS + (value < 0 ? -0.5 : 0.5))
}

function toByte(sum: number): number {
  return Math.min(255, Math.max(0, sum >> PRECISION_BITS))
}

function alongWidth(from: Uint8Array, lines: number, oldWidth: number, window: Window): Uint8Array {
  const { size, begin, count, weight } = window
  const width = begin.length
  const to = new Uint8Array(lines * width)
  for (let line = 0; line < lines; line++) {
    for (let x = 0; x < width; x++) {
      const start = line * oldWidth + begin[x]!
      let sum = 1 << (PRECISION_BITS - 1)
      for (let k = 0; k < count[x]!; k++) sum += weight[x * size + k]! * from[start + k]!
      to[line * width + x] = toByte(sum)
    }
  }
  return to
}

function alongHeight(
  from: Uint8Array,
  planes: number,
  oldHeight: number,
  width: number,
  { size, begin, count, weight }: Window,
): Uint8Array {
  const height = begin.length
  const to = new Uint8Array(planes * height * width)
  const sums = new Int32Array(width)
  for (let plane = 0; plane < planes; plane++) {
    for (let y = 0; y < height; y++) {
      sums.fill(1 << (PRECISION_BITS - 1))
      for (let k = 0; k < count[y]!; k++) {
        const start = (plane * oldHeight + begin[y]! + k) * width
        const share = weight[y * size + k]!
        for (let x = 0; x < width; x++) sums[x]! += share * from[start + x]!
      }
      const line = (plane * height + y) * width
      for (let x = 0; x < width; x++) to[line + x] = toByte(sums[x]!)
    }
  }
  return to
}

/** Multiplies the three colour planes by the fourth, alpha, in place; `/ 255` rounded. */
function premultiply(planes: Uint8Array): void {
  const size = planes.length / 4
  for (let i = 0; i < size * 3; i++) {
    const product = planes[i]! * planes[size * 3 + (i % size)]! + 128
    planes[i] = ((product >> 8) + product) >> 8
  }
}

/** Divides the three colour planes by the fourth, alpha, in place; cut off, not rounded. */
function unpremultiply(planes: Uint8Array): void {
  const size = planes.length / 4
  for (let i = 0; i < size * 3; i++) {
    const alpha = planes[size * 3 + (i % size)]!
    if (alpha !== 0) planes[i] = Math.min(255, Math.trunc((255 * planes[i]!) / alpha))
  }
}
