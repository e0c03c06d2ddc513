/** Lanczos' approximation with g = 7 and nine terms; about 15 digits. */
const lanczos = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const

/** ln Γ(x) for x > 0. */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const t = x + 6.5
  const series = lanczos.reduce((sum, term, i) => sum + (i === 0 ? term : term / (x - 1 + i)), 0)
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(series)
}

/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method; x below the mean. */
function continuedFraction(x: number, a: number, b: number): number {
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))]
  let value = d
  for (let m = 1; m < 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    for (const term of [even, odd]) {
      d = 1 / (1 + term * d)
      c = 1 + term / c
      value *= c * d
    }
    if (Math.abs(c * d - 1) < 1e-16) break
  }
  return value
}

/** The part of the beta distribution with parameters `a` and `b` that lies below `x`. */
export function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(1 - x, b, a)
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)
  return (Math.exp(front) * continuedFraction(x, a, b)) / a
}

/** Below which value the part `share` of the beta distribution lies: the inverse of `betaShare`. */
export function betaQuantile(share: number, a: number, b: number): number {
  let [low, high] = [0, 1]
  while (true) {
    const middle = (low + high) / 2
    if (middle === low || middle === high) return share >= 1 ? 1 : middle
    if (betaShare(middle, a, b) < share) low = middle
    else high = middle
  }
}
