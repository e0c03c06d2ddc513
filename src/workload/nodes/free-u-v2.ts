import { freeUNode } from './support/free-u.ts'

export default freeUNode({ type: 'FreeU_V2', title: 'FreeU, Version 2', version: 2, b1: 1.3, b2: 1.4 })
