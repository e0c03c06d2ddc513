import { readT2iConfig, t2iAdapterGraph } from '../../architectures/t2i-adapter.ts'
import type { ControlModel, ControlResiduals } from '../../model/control.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { bytesOf } from '../../weights/weight-view.ts'
import { type ControlParts, checkHint } from './control-net.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

/** A T2I adapter. It looks at the hint alone, so its residuals of a hint are kept while the hint is. */
export function createT2iAdapter({ key, view }: ControlParts, { runtime, lower }: FamilyServices): ControlModel {
  const { cell, blocks } = readT2iConfig(view)
  const session = runtime.session({
    key: `t2i adapter ${key}`,
    weightBytes: bytesOf(view),
    build: () => sourceOf(t2iAdapterGraph(view, lower.network)),
  })
  const known = new WeakMap<Tensor, Promise<ControlResiduals>>()
  const look = async (hint: Tensor): Promise<ControlResiduals> => {
    checkHint(hint)
    const { middle, ...features } = await session.run({ hint })
    return { input: Array.from({ length: blocks.at(-1)! + 1 }, (_, block) => features[`input_${block}`]), middle }
  }
  return {
    hintScale: 8,
    hintMultiple: cell,
    residuals(_x, _timesteps, _inputs, hint) {
      const result = known.get(hint) ?? look(hint)
      known.set(hint, result)
      result.catch(() => known.delete(hint)) // a failure is not kept
      return result
    },
  }
}
