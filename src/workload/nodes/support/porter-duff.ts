/** A colour multiplied by its opacity, and that opacity, 0 to 1. */
type Mix = (source: number, sourceAlpha: number, destination: number, destinationAlpha: number) => number

/** A way to compose two pictures: colour (premultiplied) and opacity of the result. */
interface Operator {
  readonly colour: Mix
  readonly alpha: Mix
}

const either: Mix = (_s, as, _d, ad) => as + ad - as * ad
const both: Mix = (_s, as, _d, ad) => as * ad
const clamp = (value: number): number => Math.min(1, Math.max(0, value))
/** What each picture shows where the other is not. */
const outside: Mix = (s, as, d, ad) => (1 - ad) * s + (1 - as) * d

/** The operators of Porter and Duff (1984), and the blend modes that editors list with them. */
export const OPERATORS = {
  ADD: { colour: (s, _as, d) => clamp(s + d), alpha: (_s, as, _d, ad) => clamp(as + ad) },
  CLEAR: { colour: () => 0, alpha: () => 0 },
  DARKEN: { colour: (s, as, d, ad) => outside(s, as, d, ad) + Math.min(s, d), alpha: either },
  DST: { colour: (_s, _as, d) => d, alpha: (_s, _as, _d, ad) => ad },
  DST_ATOP: { colour: (s, as, d, ad) => as * d + (1 - ad) * s, alpha: (_s, as) => as },
  DST_IN: { colour: (_s, as, d) => as * d, alpha: both },
  DST_OUT: { colour: (_s, as, d) => (1 - as) * d, alpha: (_s, as, _d, ad) => (1 - as) * ad },
  DST_OVER: { colour: (s, _as, d, ad) => d + (1 - ad) * s, alpha: (_s, as, _d, ad) => ad + (1 - ad) * as },
  LIGHTEN: { colour: (s, as, d, ad) => outside(s, as, d, ad) + Math.max(s, d), alpha: either },
  MULTIPLY: { colour: (s, _as, d) => s * d, alpha: both },
  OVERLAY: { colour: (s, as, d, ad) => (2 * d < ad ? 2 * s * d : as * ad - 2 * (ad - s) * (as - d)), alpha: either },
  SCREEN: { colour: (s, _as, d) => s + d - s * d, alpha: either },
  SRC: { colour: (s) => s, alpha: (_s, as) => as },
  SRC_ATOP: { colour: (s, as, d, ad) => ad * s + (1 - as) * d, alpha: (_s, _as, _d, ad) => ad },
  SRC_IN: { colour: (s, _as, _d, ad) => ad * s, alpha: both },
  SRC_OUT: { colour: (s, _as, _d, ad) => (1 - ad) * s, alpha: (_s, as, _d, ad) => (1 - ad) * as },
  SRC_OVER: { colour: (s, as, d) => s + (1 - as) * d, alpha: (_s, as, _d, ad) => as + (1 - as) * ad },
  XOR: { colour: outside, alpha: (_s, as, _d, ad) => (1 - ad) * as + (1 - as) * ad },
} as const satisfies Readonly<Record<string, Operator>>
