import { expHeun } from '../solvers/exp-heun.ts'

/** The exponential form of Heun's method for the reverse SDE. */
export default expHeun('exp_heun_2_x0_sde', { eta: 1 })
