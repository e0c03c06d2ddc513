import { freeUNode } from './support/free-u.ts'

export default freeUNode({ type: 'FreeU', title: 'FreeU', version: 1, b1: 1.1, b2: 1.2 })
