import { link, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { joinedAlong, slicedAlong } from '../tensor/axes.ts'
import { combined, type Tensor, zeros } from '../tensor/tensor.ts'
import { firstEntry, requireWidth } from './support/conditioning.ts'
import { CONDITIONING, defineNode } from './support/define.ts'

export default defineNode({
  type: 'ConditioningAverage',
  category: 'conditioning',
  title: 'Mix Conditionings',
  description: 'Mixes two encoded texts, token by token; 1 is the first alone.',
  inputs: {
    conditioning_to: link(CONDITIONING),
    conditioning_from: link(CONDITIONING),
    conditioning_to_strength: widget(float({ default: 1, min: 0, max: 1, step: 0.01 })),
  },
  outputs: [CONDITIONING],
  run({ conditioning_to, conditioning_from, conditioning_to_strength: strength }) {
    const from = firstEntry(conditioning_from)
    const mixed = (a: Tensor, b: Tensor) => combined([strength, a], [1 - strength, b])
    return [
      conditioning_to.map((entry) => {
        requireWidth(entry.context, from.context)
        const context = mixed(entry.context, withTokens(from.context, entry.context.dims[1]!))
        const pooled = from.pooled ? mixed(entry.pooled ?? from.pooled, from.pooled) : entry.pooled
        return { ...entry, context, pooled }
      }),
    ]
  },
})

/** `[N, tokens, width]` cut, or filled with noughts, to `count` tokens. */
function withTokens(context: Tensor, count: number): Tensor {
  const [rows, tokens, width] = context.dims as [number, number, number]
  if (tokens >= count) return slicedAlong(context, 1, 0, count)
  return joinedAlong([context, zeros([rows, count - tokens, width])], 1)
}
