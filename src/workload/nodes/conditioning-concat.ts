import { link } from '../graph/node.ts'
import { joinedAlong } from '../tensor/axes.ts'
import { firstEntry, requireWidth } from './support/conditioning.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningConcat',
  category: 'conditioning',
  title: 'Join Conditionings',
  description: 'Puts the tokens of a second text behind those of the first, as if both were one text.',
  inputs: { conditioning_to: link(CONDITIONING), conditioning_from: link(CONDITIONING) },
  outputs: [CONDITIONING],
  run({ conditioning_to, conditioning_from }) {
    const { context: tail } = firstEntry(conditioning_from)
    return [
      conditioning_to.map((entry) => {
        requireWidth(entry.context, tail)
        return { ...entry, context: joinedAlong([entry.context, tail], 1) }
      }),
    ]
  },
})
