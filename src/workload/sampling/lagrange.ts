/** The value at `at` of the polynomial that is 1 at the j-th of `nodes` and 0 at the others. */
export function lagrange(nodes: readonly number[], j: number, at: number): number {
  let product = 1
  for (const [k, node] of nodes.entries()) if (k !== j) product *= (at - node) / (nodes[j]! - node)
  return product
}

/** ∫ of the j-th Lagrange polynomial through `nodes` over an interval, exactly but for rounding. */
export function lagrangeIntegral(nodes: readonly number[], j: number, from: number, to: number): number {
  const [middle, half] = [(from + to) / 2, (to - from) / 2]
  let sum = 0
  // Gauss' rule with n points is exact to degree 2n - 1.
  for (const { place, weight } of gaussLegendre(Math.ceil(nodes.length / 2)))
    sum += weight * lagrange(nodes, j, middle + half * place)
  return half * sum
}

/** Places in [-1, 1] and weights of Gauss' rule with n points: roots of the Legendre polynomial, by Newton's method. */
function gaussLegendre(n: number): readonly { readonly place: number; readonly weight: number }[] {
  return Array.from({ length: n }, (_, i) => {
    let place = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5))
    let slope = 0
    // It converges quadratically from this start; eight rounds are more than doubles can tell apart.
    for (let round = 0; round < 8; round++) {
      let [before, value] = [0, 1]
      for (let k = 1; k <= n; k++) [before, value] = [value, ((2 * k - 1) * place * value - (k - 1) * before) / k]
      slope = (n * (place * value - before)) / (place ** 2 - 1)
      place -= value / slope
    }
    return { place, weight: 2 / ((1 - place ** 2) * slope ** 2) }
  })
}
