import { uniPc } from '../solvers/uni-pc.ts'

/** UniPC with B(h) = e^h - 1. */
export default uniPc('uni_pc_bh2', 'bh2')
