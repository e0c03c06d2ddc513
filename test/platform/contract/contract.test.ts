import { walk } from './walk.ts'

/** Every operation with every fault; of what bodies may hold, all bounds of the operations that make things. */
walk(({ isRare = false }) => !isRare)
