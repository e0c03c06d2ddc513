import { cfgPpEuler } from '../solvers/cfg-pp-euler.ts'

/** Euler's method of CFG++ without noise. */
export default cfgPpEuler('euler_cfg_pp', { eta: 0 })
