import { solveLinear } from '../linear-system.ts'

/** A step in λ over which guesses are integrated. */
export interface AdamsStep {
  /** λ at both ends. */
  readonly from: number
  readonly to: number
  /** How stochastic the step is; 0 follows the ODE. */
  readonly tau: number
}

/**
 * What guesses at the places `nodes` count over a step, as multiples of α at its end: the integral of
 * (1 + τ²)·e^{-(1 + τ²)(to - λ)} times their interpolation (SA-Solver, Xue et al. 2023, eq. 15).
 */
export function adamsWeights(nodes: readonly number[], { from, to, tau }: AdamsStep): readonly number[] {
  const rate = 1 + tau ** 2
  const decay = Math.exp(-rate * (to - from))
  const integrals: number[] = []
  for (const power of nodes.keys()) {
    // By parts: the integral of λ^p is the difference of λ^p·e^… at the ends less p/rate times that of λ^(p-1).
    const ends = to ** power - from ** power * decay
    integrals.push(ends - (power === 0 ? 0 : (power / rate) * integrals[power - 1]!))
  }
  return solveLinear(
    nodes.map((_, power) => nodes.map((node) => node ** power)),
    integrals,
  )
}

/** The simpler weights of the published code for two guesses, the older first. */
export function simpleAdamsWeights(
  nodes: readonly [older: number, newer: number],
  { from, to, tau }: AdamsStep,
  corrects: boolean,
): readonly [number, number] {
  const rate = 1 + tau ** 2
  const h = to - from
  const whole = -Math.expm1(-rate * h)
  if (corrects) return [whole - 0.5 * rate * h, 0.5 * rate * h]
  const older = (0.5 * rate * h ** 2) / (nodes[0] - from)
  return [older, whole - older]
}
