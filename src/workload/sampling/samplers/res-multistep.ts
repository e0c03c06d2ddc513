import { resMultistep } from '../solvers/res-multistep.ts'

/** The refined exponential solver without noise. */
export default resMultistep('res_multistep', 0)
