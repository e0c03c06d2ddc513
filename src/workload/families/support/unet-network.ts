import { unetGraph } from '../../architectures/unet.ts'
import type { Alteration } from '../../model/alterations.ts'
import type { AppliedPatch } from '../../model/patches.ts'
import type { ModelInputs, Network } from '../../model/ports.ts'
import type { Session } from '../../runtime/session.ts'
import { joinChannels } from '../../tensor/channels.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { unetLayerNames } from '../../weights/lora-names.ts'
import { patchedView } from '../../weights/patch-view.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { patchesName, weightChanges, weightsAsPatch } from './patches.ts'
import { sourceOf } from './session-source.ts'
import { controlInputs } from './unet-control.ts'
import { alterationsAt, isDownscale, unetAlteration, variantName } from './unet-variants.ts'
import { unetWeights } from './unet-weights.ts'

export interface UnetParts {
  /** Which weights these are: equal keys share a session. */
  readonly key: string
  readonly view: WeightView
  /** Attention heads of a block of so many channels. */
  headsOf(channels: number): number
}

/** What nodes have done to a network since it was loaded, in order. */
interface Changes {
  readonly patches: readonly AppliedPatch[]
  readonly alterations: readonly Alteration[]
}

/** An LDM UNet in a session. An input `concat` `[N, C, H, W]` is shown to it beside `x`, as further channels. */
export function createUnetNetwork(
  parts: UnetParts,
  services: FamilyServices,
  changes: Changes = { patches: [], alterations: [] },
): Network {
  const { view, headsOf } = parts
  const weights = unetWeights(parts, changes.patches, services)
  const weightBytes = bytesOf(view)
  const sessions = new Map<string, Session>()
  /** What is asked only at some noise levels, or only with control networks, is a session of its own. Asked at every step. */
  const sessionFor = (alterations: readonly Alteration[], control: boolean): Session => {
    const variant = variantName(alterations, control)
    const session =
      sessions.get(variant) ??
      services.runtime.session({
        key: `unet ${weights.key} ${variant}`,
        weightBytes,
        isStep: true,
        variantOf: weights.variantOf && `unet ${weights.variantOf}`,
        build: () => {
          const changed = { control, alterations: alterations.map(unetAlteration) }
          return sourceOf(unetGraph(weights.view, weights.lower, headsOf, changed))
        },
      })
    sessions.set(variant, session)
    return session
  }
  return {
    async predict(x, timesteps, { concat, ...inputs }: ModelInputs, { sigma, control } = {}) {
      const rows = tensor([timesteps.length], Float32Array.from(timesteps))
      const seen: Tensor = concat ? joinChannels(x, concat) : x
      const alterations = alterationsAt(changes.alterations, sigma)
      const residuals = control && controlInputs(view, x, control, alterations.filter(isDownscale))
      const session = sessionFor(alterations, control !== undefined)
      const shared = await weights.shared()
      const { output } = await session.run({ x: seen, timesteps: rows, ...inputs, ...residuals }, shared)
      return output!
    },
    patched: (patches) => createUnetNetwork(parts, services, { ...changes, patches: [...changes.patches, ...patches] }),
    asPatch() {
      const all = weightChanges({ view, part: 'network', names: unetLayerNames(view) }, changes.patches)
      const key = `${parts.key} ${patchesName(changes.patches)}`
      return weightsAsPatch(key, [{ part: 'network', view: patchedView(view, all) }])
    },
    altered(alteration) {
      unetAlteration(alteration) // refuses what cannot be built now rather than in the middle of a run
      return createUnetNetwork(parts, services, { ...changes, alterations: [...changes.alterations, alteration] })
    },
  }
}
