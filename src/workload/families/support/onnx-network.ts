import { WorkloadError } from '../../base/errors.ts'
import type { Network } from '../../model/ports.ts'
import type { Session } from '../../runtime/session.ts'
import { joinChannels } from '../../tensor/channels.ts'
import { tensor } from '../../tensor/tensor.ts'

/** A UNet that was exported as ONNX under diffusers' names; `name` is for errors. Its weights are closed to changes. */
export function createOnnxNetwork(session: Session, name: string): Network {
  const refuse = (what: string): never => {
    throw new WorkloadError(
      'execution-failed',
      `${name} is an ONNX network, which ${what} cannot be applied to: use the model in safetensors`,
    )
  }
  const network: Network = {
    async predict(x, timesteps, { concat, context, ...inputs }, { control } = {}) {
      if (control) refuse('a control network')
      const { out_sample } = await session.run({
        sample: concat ? joinChannels(x, concat) : x,
        timestep: tensor([timesteps.length], Float32Array.from(timesteps)),
        encoder_hidden_states: context!, // every family that is exported so reads a text
        ...inputs,
      })
      if (out_sample) return out_sample
      throw new WorkloadError('execution-failed', `the UNet of ${name} has no output out_sample`)
    },
    patched: (patches) => (patches.length > 0 ? refuse('a LoRA or a merge') : network),
    altered: ({ kind }) => refuse(kind),
  }
  return network
}
