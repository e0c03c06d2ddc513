import type { Palette } from './palette.ts'

/** 8-bit pixels, red, green and blue one behind the other → the nearest colours of a palette. */
export function mapToPalette(pixels: Uint8Array, palette: Palette): Uint8Array {
  const out = new Uint8Array(pixels.length)
  for (let at = 0; at < pixels.length; at += 3)
    put(out, at, palette.colours[palette.nearest(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!)]!)
  return out
}

function put(out: Uint8Array, at: number, colour: number): void {
  out[at] = colour >> 16
  out[at + 1] = colour >> 8
  out[at + 2] = colour
}

const toByte = (value: number): number => Math.min(255, Math.max(0, value))

/**
 * The same with error diffusion (Floyd and Steinberg 1976) as Pillow does it: 7, 3, 5 and 1 sixteenths go right, below
 * left, below and below right in whole numbers, and their sum is cut off towards nought when it is used.
 */
export function diffuseErrors(pixels: Uint8Array, width: number, palette: Palette): Uint8Array {
  const out = new Uint8Array(pixels.length)
  /** What the line above left for each place, one place ahead: in sixteenths. */
  const below = new Int32Array((width + 1) * 3)
  for (let line = 0; line < pixels.length; line += width * 3) {
    const right = [0, 0, 0]
    const corner = [0, 0, 0]
    const under = [0, 0, 0]
    for (let x = 0; x < width; x++) {
      const at = line + x * 3
      const wanted = [0, 1, 2].map((c) =>
        toByte(pixels[at + c]! + Math.trunc((right[c]! + below[(x + 1) * 3 + c]!) / 16)),
      ) as [number, number, number]
      const colour = palette.colours[palette.nearest(...wanted)]!
      put(out, at, colour)
      for (let c = 0; c < 3; c++) {
        const error = wanted[c]! - out[at + c]!
        below[x * 3 + c] = 3 * error + under[c]!
        under[c] = 5 * error + corner[c]!
        corner[c] = error
        right[c] = 7 * error
      }
    }
    // A slip of Pillow, kept for equal pictures: all three channels get numbers of blue.
    below.set([under[2]!, corner[2]!, corner[2]!], width * 3)
  }
  return out
}

/**
 * A pattern of `2 ** power` a side that spreads the steps from -1/2 to 1/2 evenly (Bayer 1973), row by row:
 * M(n) = [M(n-1) - 1.5/4ⁿ, M(n-1) + 0.5/4ⁿ; M(n-1) + 1.5/4ⁿ, M(n-1) - 0.5/4ⁿ].
 */
export function bayerPattern(power: number): Float64Array {
  if (power === 0) return new Float64Array(1)
  const half = 2 ** (power - 1)
  const smaller = bayerPattern(power - 1)
  const steps = [-1.5, 0.5, 1.5, -0.5]
  return Float64Array.from({ length: 4 * half * half }, (_, i) => {
    const [y, x] = [Math.floor(i / (2 * half)), i % (2 * half)]
    const quarter = 2 * Number(y >= half) + Number(x >= half)
    return smaller[(y % half) * half + (x % half)]! + steps[quarter]! / 4 ** power
  })
}

/** 8-bit pixels with a pattern of `2 ** power` a side laid over them, which reaches `spread` from its lowest to its highest. */
export function addPattern(pixels: Uint8Array, width: number, power: number, spread: number): Uint8Array {
  const pattern = bayerPattern(power)
  const side = 2 ** power
  return pixels.map((value, i) => {
    const pixel = Math.floor(i / 3)
    const at = (Math.floor(pixel / width) % side) * side + ((pixel % width) % side)
    return toByte(Math.fround(value + Math.fround(spread * pattern[at]! + 0.5)))
  })
}
