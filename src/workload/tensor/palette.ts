/** A palette that finds the nearest of its colours. */
export interface Palette {
  /** `0xRRGGBB` each. */
  readonly colours: readonly number[]
  /**
   * The index of the colour nearest to an 8-bit one, the first of equals. As in Pillow, four neighbouring values of a
   * channel are looked up as their lowest.
   */
  nearest(red: number, green: number, blue: number): number
}

/** Makes a palette of `colours`; what was looked up once is remembered. */
export function createPalette(colours: readonly number[]): Palette {
  const known = new Int16Array(64 ** 3).fill(-1)
  return {
    colours,
    nearest(red, green, blue) {
      const key = ((red >> 2) << 12) | ((green >> 2) << 6) | (blue >> 2)
      if (known[key] === -1) known[key] = search(colours, red & 0xfc, green & 0xfc, blue & 0xfc)
      return known[key]!
    },
  }
}

function search(colours: readonly number[], red: number, green: number, blue: number): number {
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (const [i, colour] of colours.entries()) {
    const distance = ((colour >> 16) - red) ** 2 + (((colour >> 8) & 0xff) - green) ** 2 + ((colour & 0xff) - blue) ** 2
    if (distance >= least) continue
    least = distance
    best = i
  }
  return best
}
