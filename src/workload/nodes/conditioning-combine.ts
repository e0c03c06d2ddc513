import { link } from '../graph/node.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningCombine',
  category: 'conditioning',
  title: 'Combine Conditionings',
  description: 'Steers by both conditionings at once: the model is asked for each, and the guesses are averaged.',
  inputs: { conditioning_1: link(CONDITIONING), conditioning_2: link(CONDITIONING) },
  outputs: [CONDITIONING],
  run: ({ conditioning_1, conditioning_2 }) => [[...conditioning_1, ...conditioning_2]],
})
