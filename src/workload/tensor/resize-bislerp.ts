import { resizedSeparably } from './resize-separable.ts'
import { type Tensor, tensor } from './tensor.ts'

/** For each position of the result along one axis: its two neighbours and how far it lies on the way to the second. */
interface Neighbours {
  readonly first: Int32Array
  readonly second: Int32Array
  readonly share: Float32Array
}

/**
 * `[N, C, H, W]` → `[N, C, height, width]`: like bilinear, but between two pixels the channel vector turns on the sphere
 * (slerp, Shoemake 1985) while its length changes evenly, so that latents keep their contrast.
 */
export function resizedSpherically(t: Tensor, width: number, height: number): Tensor {
  const [rows, channels, oldHeight, oldWidth] = t.dims as [number, number, number, number]
  const wide = new Float32Array(rows * channels * oldHeight * width)
  const across = neighboursOf(oldWidth, width)
  for (let row = 0; row < rows; row++)
    for (let y = 0; y < oldHeight; y++) {
      const line = { from: (row * channels * oldHeight + y) * oldWidth, plane: oldHeight * oldWidth, step: 1 }
      const target = { from: (row * channels * oldHeight + y) * width, plane: oldHeight * width, step: 1 }
      turnLine(t.data, line, wide, target, channels, across)
    }
  const result = new Float32Array(rows * channels * height * width)
  const down = neighboursOf(oldHeight, height)
  for (let row = 0; row < rows; row++)
    for (let x = 0; x < width; x++) {
      const line = { from: row * channels * oldHeight * width + x, plane: oldHeight * width, step: width }
      const target = { from: row * channels * height * width + x, plane: height * width, step: width }
      turnLine(wide, line, result, target, channels, down)
    }
  return tensor([rows, channels, height, width], result)
}

/** A row or column of one image: its first value, the distance between channels and between its pixels. */
interface Line {
  readonly from: number
  readonly plane: number
  readonly step: number
}

function neighboursOf(size: number, newSize: number): Neighbours {
  const ramp = (offset: number) => {
    const data = Float32Array.from({ length: size }, (_, i) => Math.min(i + offset, size - 1))
    return resizedSeparably(tensor([1, 1, 1, size], data), newSize, 1, 'bilinear').data
  }
  const position = ramp(0)
  return {
    first: Int32Array.from(position),
    second: Int32Array.from(ramp(1)),
    share: position.map((value) => value - Math.floor(value)),
  }
}

function turnLine(
  data: Float32Array,
  line: Line,
  result: Float32Array,
  target: Line,
  channels: number,
  { first, second, share }: Neighbours,
): void {
  for (let i = 0; i < share.length; i++) {
    const a = line.from + first[i]! * line.step
    const b = line.from + second[i]! * line.step
    const [weightA, weightB] = slerpWeights(data, a, b, line.plane, channels, share[i]!)
    for (let c = 0; c < channels; c++)
      result[target.from + i * target.step + c * target.plane] =
        data[a + c * line.plane]! * weightA + data[b + c * line.plane]! * weightB
  }
}

/** How much of the vectors at `a` and `b` their spherical mix at `share` holds. */
function slerpWeights(
  data: Float32Array,
  a: number,
  b: number,
  plane: number,
  channels: number,
  share: number,
): readonly [number, number] {
  let squareA = 0
  let squareB = 0
  let product = 0
  for (let k = 0; k < channels * plane; k += plane) {
    squareA += data[a + k]! ** 2
    squareB += data[b + k]! ** 2
    product += data[a + k]! * data[b + k]!
  }
  const normA = Math.sqrt(squareA)
  const normB = Math.sqrt(squareB)
  const dot = normA === 0 || normB === 0 ? 0 : product / (normA * normB)
  if (dot > 1 - 1e-5) return [1, 0]
  if (dot < 1e-5 - 1) return [1 - share, share]
  const angle = Math.acos(dot)
  const norm = (normA * (1 - share) + normB * share) / Math.sin(angle)
  return [
    normA === 0 ? 0 : (Math.sin((1 - share) * angle) / normA) * norm,
    normB === 0 ? 0 : (Math.sin(share * angle) / normB) * norm,
  ]
}
