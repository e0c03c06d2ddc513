import { resMultistep } from '../solvers/res-multistep.ts'

/** The refined exponential solver over ancestral steps. */
export default resMultistep('res_multistep_ancestral', 1)
