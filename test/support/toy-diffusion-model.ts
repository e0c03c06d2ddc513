import type { ConditioningEntry } from '../../src/workload/model/conditioning.ts'
import type { DiffusionModel, ModelInputs, Network } from '../../src/workload/model/ports.ts'
import { discreteSampling } from '../../src/workload/sampling/model-sampling.ts'
import { rowsOf, takeRows } from '../../src/workload/tensor/rows.ts'
import { scaled, type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'

/** What one pass of the toy network was given. */
export interface ToyCall {
  readonly rows: number
  readonly timesteps: readonly number[]
  readonly contextDims: readonly number[]
  /** The mean of each row's tokens, which tells the entries apart. */
  readonly contextMeans: readonly number[]
}

const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * A network small enough to follow by hand: the noise it sees in a row is a part of that row, shifted by the mean of
 * its tokens and by its timestep. Like attention it does not care how often the tokens are repeated.
 */
export function createToyModel(): { readonly model: DiffusionModel; readonly calls: readonly ToyCall[] } {
  const calls: ToyCall[] = []
  const refuse = (): never => {
    throw new Error('the toy network stays as it is')
  }
  const network: Network = {
    async predict(x: Tensor, timesteps: readonly number[], inputs: ModelInputs) {
      const context = inputs.context!
      const contextMeans = timesteps.map((_, row) => mean(takeRows(context, row, row + 1).data))
      calls.push({ rows: rowsOf(x), timesteps, contextDims: context.dims, contextMeans })
      const out = new Float32Array(x.data.length)
      const stride = out.length / rowsOf(x)
      for (let row = 0; row < rowsOf(x); row++) {
        const shift = contextMeans[row]! + timesteps[row]! / 1000
        for (let i = row * stride; i < (row + 1) * stride; i++) out[i] = 0.5 * x.data[i]! + shift
      }
      return tensor(x.dims, out)
    },
    patched: refuse,
    altered: refuse,
  }
  const model: DiffusionModel = {
    sampling: discreteSampling({ prediction: 'eps' }),
    latent: {
      channels: 4,
      processIn: (latent) => scaled(latent, 0.5),
      processOut: (latent) => scaled(latent, 2),
    },
    inputsFor: ({ context, pooled }: ConditioningEntry): ModelInputs => (pooled ? { context, y: pooled } : { context }),
    network,
  }
  return { model, calls }
}

/** A conditioning entry of `tokens` tokens of two numbers that are all `value`. */
export function toyEntry(value: number, tokens = 3, strength?: number): ConditioningEntry {
  const context = tensor([1, tokens, 2], new Float32Array(tokens * 2).fill(value))
  return strength === undefined ? { context } : { context, strength }
}
