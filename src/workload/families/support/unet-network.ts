import { unetGraph } from '../../architectures/unet.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Alteration } from '../../model/alterations.ts'
import type { AppliedPatch } from '../../model/patches.ts'
import type { ModelInputs, Network } from '../../model/ports.ts'
import { joinChannels } from '../../tensor/channels.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

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
  const { key, view, headsOf } = parts
  const session = services.runtime.session({
    key: `unet ${key}`,
    weightBytes: bytesOf(view),
    build: () => sourceOf(unetGraph(view, services.lower.network, headsOf)),
  })
  const refuse = (what: string): never => {
    throw new WorkloadError('execution-failed', `${what} cannot be applied`)
  }
  return {
    async predict(x, timesteps, { concat, ...inputs }: ModelInputs) {
      const rows = tensor([timesteps.length], Float32Array.from(timesteps))
      const seen: Tensor = concat ? joinChannels(x, concat) : x
      const { output } = await session.run({ x: seen, timesteps: rows, ...inputs })
      return output!
    },
    patched: (patches) => (patches.length > 0 ? refuse('patches') : createUnetNetwork(parts, services, changes)),
    altered: ({ kind }) => refuse(kind),
  }
}
