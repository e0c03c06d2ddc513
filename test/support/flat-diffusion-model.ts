import type { ConditioningEntry } from '../../src/workload/model/conditioning.ts'
import type { ControlResiduals } from '../../src/workload/model/control.ts'
import type { GuidanceHook } from '../../src/workload/model/guidance.ts'
import type { DiffusionModel, InputRequest, ModelInputs, Network, PassOptions } from '../../src/workload/model/ports.ts'
import type { GuidanceRun, Guider } from '../../src/workload/sampling/guider.ts'
import { discreteSampling } from '../../src/workload/sampling/model-sampling.ts'
import { rowsOf, takeRows } from '../../src/workload/tensor/rows.ts'
import { type Tensor, tensor, zeros } from '../../src/workload/tensor/tensor.ts'

/** What one pass of the flat network was given. */
export interface FlatCall {
  readonly dims: readonly number[]
  /** The value of each row's text. */
  readonly texts: readonly number[]
  readonly concat: Tensor | undefined
  readonly control: ControlResiduals | undefined
}

/**
 * A network that guesses a flat picture: every value of a row is the value of its text, plus what the picture beside x
 * holds there, plus the control's middle residual. So what guidance makes of guesses can be told by mental arithmetic.
 */
export function createFlatModel(guidance: readonly GuidanceHook[] = []) {
  const calls: FlatCall[] = []
  const requests: InputRequest[] = []
  const refuse = (): never => {
    throw new Error('the flat network stays as it is')
  }
  const network: Network = {
    async predict(x: Tensor, timesteps: readonly number[], inputs: ModelInputs, options: PassOptions = {}) {
      const { context, concat } = inputs
      const { control } = options
      const texts = timesteps.map((_, row) => takeRows(context!, row, row + 1).data[0]!)
      calls.push({ dims: x.dims, texts, concat, control })
      const data = new Float32Array(x.data.length)
      const stride = data.length / rowsOf(x)
      const added = control?.middle?.data[0] ?? 0
      for (let i = 0; i < data.length; i++)
        data[i] = texts[Math.floor(i / stride)]! + (concat?.data[i % concat.data.length] ?? 0) + added
      return tensor(x.dims, data)
    },
    patched: refuse,
    altered: refuse,
  }
  const model: DiffusionModel = {
    network,
    sampling: discreteSampling({ prediction: 'x0' }),
    latent: { channels: 1, processIn: (latent) => latent, processOut: (latent) => latent },
    guidance,
    inputsFor({ context, concat }: ConditioningEntry, request: InputRequest) {
      requests.push(request)
      return concat ? { context, concat: concat.latent } : { context }
    },
  }
  return { model, calls, requests }
}

/** A conditioning entry whose text has the value `value`. */
export function text(value: number, rest: Omit<ConditioningEntry, 'context'> = {}): ConditioningEntry {
  return { context: tensor([1, 2, 1], Float32Array.of(value, value)), ...rest }
}

/** A run over latents in the shape of `x`. */
export const flatRun = (x: Tensor, rest: Partial<GuidanceRun> = {}): GuidanceRun => ({
  latent: zeros(x.dims),
  noiseMask: undefined,
  asksNegative: false,
  signal: new AbortController().signal,
  ...rest,
})

/** What `guider` makes of latents `dims` at `sigma`. */
export const guessAt = (guider: Guider, dims: readonly number[], sigma = 3, rest: Partial<GuidanceRun> = {}) =>
  guider.guide(flatRun(zeros(dims), rest))(zeros(dims), sigma)

/** The values of one line of a picture. */
export const lineOf = ({ dims, data }: Tensor, line: number): number[] => [
  ...data.subarray(line * dims.at(-1)!, (line + 1) * dims.at(-1)!),
]
