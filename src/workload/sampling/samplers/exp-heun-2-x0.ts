import { expHeun } from '../solvers/exp-heun.ts'

/** The exponential form of Heun's method without noise. */
export default expHeun('exp_heun_2_x0', { eta: 0 })
