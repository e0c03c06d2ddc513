import { stochasticAdams } from '../solvers/sa-solver.ts'

/** SA-Solver that asks the model again after each correction ("predict, evaluate, correct, evaluate"). */
export default stochasticAdams('sa_solver_pece', { asksAgain: true })
