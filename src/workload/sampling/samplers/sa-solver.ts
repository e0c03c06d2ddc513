import type { Sampler } from '../sampler.ts'
import { type SaSolverOptions, stochasticAdams } from '../solvers/sa-solver.ts'

/** SA-Solver, Xue et al. (2023), with one guess a step unless the options say otherwise. */
export const saSolver = (options: SaSolverOptions = {}): Sampler => stochasticAdams('sa_solver', options)

export default saSolver()
