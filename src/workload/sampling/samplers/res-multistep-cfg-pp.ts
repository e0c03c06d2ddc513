import { resMultistepCfgPp } from '../solvers/res-multistep.ts'

/** The refined exponential solver without noise, in the manner of CFG++. */
export default resMultistepCfgPp('res_multistep_cfg_pp', 0)
