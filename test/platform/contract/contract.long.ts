import { walk } from './walk.ts'

/** The whole table. */
walk(() => true)
