import { resMultistepCfgPp } from '../solvers/res-multistep.ts'

/** The refined exponential solver over ancestral steps, in the manner of CFG++. */
export default resMultistepCfgPp('res_multistep_ancestral_cfg_pp', 1)
