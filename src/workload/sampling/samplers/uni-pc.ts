import { uniPc } from '../solvers/uni-pc.ts'

/** UniPC with B(h) = h. */
export default uniPc('uni_pc', 'bh1')
