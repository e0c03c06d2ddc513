import { unetGraph } from '../../architectures/unet.ts'
import type { DiffusionModel, LatentFormat, ModelInputs, ModelSampling } from '../../model/ports.ts'
import { tensor } from '../../tensor/tensor.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

export interface UnetModelParts {
  readonly file: SafetensorsFile
  readonly view: WeightView
  readonly sampling: ModelSampling
  readonly latent: LatentFormat
  /** Attention heads of a block of so many channels. */
  headsOf(channels: number): number
  readonly inputsFor: DiffusionModel['inputsFor']
}

/** An LDM UNet as the diffusion model of a family. */
export function createUnetModel(parts: UnetModelParts, { runtime, lower }: FamilyServices): DiffusionModel {
  const { file, view, headsOf } = parts
  const session = runtime.session({
    key: `unet ${file.path} ${file.version}`,
    weightBytes: bytesOf(view),
    build: () => sourceOf(unetGraph(view, lower.network, headsOf)),
  })
  return {
    sampling: parts.sampling,
    latent: parts.latent,
    inputsFor: parts.inputsFor,
    async predict(x, timesteps, inputs: ModelInputs) {
      const rows = tensor([timesteps.length], Float32Array.from(timesteps))
      const { output } = await session.run({ x, timesteps: rows, ...inputs })
      return output!
    },
  }
}
