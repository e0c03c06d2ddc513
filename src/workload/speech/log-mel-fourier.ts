const LENGTH = 400
/** What 400 is taken apart into, one stage each. */
const RADICES = [4, 4, 5, 5] as const

/** Complex values, their real and imaginary parts. */
export interface Complex {
  readonly re: Float64Array
  readonly im: Float64Array
}

/** Room for `length` complex values. */
export function complex(length: number): Complex {
  return { re: new Float64Array(length), im: new Float64Array(length) }
}

/**
 * A Fourier transform of 400 complex values that is used again and again: `values` become scratch, and the answer is
 * valid until the next call. Stages write in Stockham's order, so that nothing needs to be permuted.
 */
export function createFourier(): (values: Complex) => Complex {
  const roots = complex(LENGTH)
  for (let i = 0; i < LENGTH; i++) {
    roots.re[i] = Math.cos((-2 * Math.PI * i) / LENGTH)
    roots.im[i] = Math.sin((-2 * Math.PI * i) / LENGTH)
  }
  const scratch = complex(LENGTH)
  return (values) => {
    let [from, to] = [values, scratch]
    let stride = 1
    for (const radix of RADICES) {
      if (radix === 4) byFours(from, to, roots, stride)
      else byFives(from, to, roots, stride)
      ;[from, to] = [to, from]
      stride *= radix
    }
    return from
  }
}

/** Writes `re + i im`, turned by the root `power`, to the place `at`. */
function put({ re, im }: Complex, at: number, x: number, y: number, roots: Complex, power: number): void {
  const c = roots.re[power]!
  const s = roots.im[power]!
  re[at] = x * c - y * s
  im[at] = x * s + y * c
}

/** A stage of transforms of length 4. */
function byFours({ re, im }: Complex, to: Complex, roots: Complex, stride: number): void {
  const apart = LENGTH / 4
  for (let at = 0, piece = 0; at < apart; piece++)
    for (let q = 0; q < stride; q++, at++) {
      const [b, c, d] = [at + apart, at + 2 * apart, at + 3 * apart]
      const evenX = re[at]! + re[c]!
      const evenY = im[at]! + im[c]!
      const apartX = re[at]! - re[c]!
      const apartY = im[at]! - im[c]!
      const oddX = re[b]! + re[d]!
      const oddY = im[b]! + im[d]!
      const turnX = im[b]! - im[d]!
      const turnY = re[d]! - re[b]!
      const place = q + 4 * stride * piece
      const power = piece * stride
      put(to, place, evenX + oddX, evenY + oddY, roots, 0)
      put(to, place + stride, apartX + turnX, apartY + turnY, roots, power)
      put(to, place + 2 * stride, evenX - oddX, evenY - oddY, roots, 2 * power)
      put(to, place + 3 * stride, apartX - turnX, apartY - turnY, roots, 3 * power)
    }
}

const COS1 = Math.cos((2 * Math.PI) / 5)
const COS2 = Math.cos((4 * Math.PI) / 5)
const SIN1 = Math.sin((2 * Math.PI) / 5)
const SIN2 = Math.sin((4 * Math.PI) / 5)

/** A stage of transforms of length 5: values that lie mirrored share their cosines and sines. */
function byFives({ re, im }: Complex, to: Complex, roots: Complex, stride: number): void {
  const apart = LENGTH / 5
  for (let at = 0, piece = 0; at < apart; piece++)
    for (let q = 0; q < stride; q++, at++) {
      const [b, c, d, e] = [at + apart, at + 2 * apart, at + 3 * apart, at + 4 * apart]
      const [x, y] = [re[at]!, im[at]!]
      const [sumX1, sumY1] = [re[b]! + re[e]!, im[b]! + im[e]!]
      const [sumX2, sumY2] = [re[c]! + re[d]!, im[c]! + im[d]!]
      const [offX1, offY1] = [re[b]! - re[e]!, im[b]! - im[e]!]
      const [offX2, offY2] = [re[c]! - re[d]!, im[c]! - im[d]!]
      const nearX = x + COS1 * sumX1 + COS2 * sumX2
      const nearY = y + COS1 * sumY1 + COS2 * sumY2
      const farX = x + COS2 * sumX1 + COS1 * sumX2
      const farY = y + COS2 * sumY1 + COS1 * sumY2
      const nearTurnX = SIN1 * offY1 + SIN2 * offY2
      const nearTurnY = -SIN1 * offX1 - SIN2 * offX2
      const farTurnX = SIN2 * offY1 - SIN1 * offY2
      const farTurnY = -SIN2 * offX1 + SIN1 * offX2
      const place = q + 5 * stride * piece
      const power = piece * stride
      put(to, place, x + sumX1 + sumX2, y + sumY1 + sumY2, roots, 0)
      put(to, place + stride, nearX + nearTurnX, nearY + nearTurnY, roots, power)
      put(to, place + 2 * stride, farX + farTurnX, farY + farTurnY, roots, 2 * power)
      put(to, place + 3 * stride, farX - farTurnX, farY - farTurnY, roots, 3 * power)
      put(to, place + 4 * stride, nearX - nearTurnX, nearY - nearTurnY, roots, 4 * power)
    }
}
