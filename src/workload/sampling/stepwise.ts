import { type Tensor, zeros } from '../tensor/tensor.ts'
import type { Sampler, SamplingRun } from './sampler.ts'

/** One step of a sampler: from `x` at `sigma` to `next`. */
export interface Step {
  /** Which step of the run, from 0. */
  readonly index: number
  readonly x: Tensor
  readonly sigma: number
  readonly next: number
  /** The model's guess at the clean image for `x` at `sigma`. */
  readonly denoised: Tensor
}

/** One step of a sampler that takes the direction of its steps from the negative's guess. */
export interface PairStep extends Step {
  /** The guess under the negative conditioning alone. */
  readonly negative: Tensor
}

/** Takes one step; gives x at the next level. */
export type Advance<S extends Step = Step> = (step: S) => Tensor | Promise<Tensor>

/** Begins a run; what it returns takes the steps, so its closure may hold history. */
export type Begin<S extends Step = Step> = (run: SamplingRun, x: Tensor) => Advance<S>

type Guesses = Pick<PairStep, 'denoised' | 'negative'>

/**
 * A sampler that visits each noise level in turn and asks the model there first. `levels` may replace the levels of the
 * run by others.
 */
export function stepwise(
  name: string,
  begin: Begin,
  levels: (run: SamplingRun) => Float32Array = ({ sigmas }) => sigmas,
): Sampler {
  return Object.freeze({
    name,
    async sample(x: Tensor, run: SamplingRun) {
      const ask = async (at: Tensor, sigma: number) => ({ denoised: await run.denoise(at, sigma) })
      return walk(x, run, levels(run), begin(run, x), ask)
    },
  })
}

/** As `stepwise`, for samplers that also need the negative's guess at every level. */
export function stepwiseOnPairs(name: string, begin: Begin<PairStep>): Sampler {
  return Object.freeze({
    name,
    asksNegative: true,
    async sample(x: Tensor, run: SamplingRun) {
      return walk(x, run, run.sigmas, begin(run, x), guessPairs(run))
    },
  })
}

/** How a run's pairs of guesses are asked for; `otherwise` stands in for the negative's where the guider asks none. */
export function guessPairs(
  { denoisePair }: SamplingRun,
  otherwise = (denoised: Tensor): Tensor => zeros(denoised.dims),
): (x: Tensor, sigma: number) => Promise<Guesses> {
  return async (x, sigma) => {
    const { denoised, negative } = await denoisePair(x, sigma)
    return { denoised, negative: negative ?? otherwise(denoised) }
  }
}

/** The loop of all stepwise samplers: `ask` the model, `advance`, report. */
export async function walk<G extends Pick<Step, 'denoised'>>(
  start: Tensor,
  { signal, onStep }: SamplingRun,
  sigmas: Float32Array,
  advance: (step: G & Omit<Step, 'denoised'>) => Tensor | Promise<Tensor>,
  ask: (x: Tensor, sigma: number) => Promise<G>,
): Promise<Tensor> {
  const total = sigmas.length - 1
  let x = start
  for (let index = 0; index < total; index++) {
    signal.throwIfAborted()
    const sigma = sigmas[index]!
    const guesses = await ask(x, sigma)
    x = await advance({ ...guesses, index, x, sigma, next: sigmas[index + 1]! })
    onStep?.(index + 1, total, guesses.denoised)
  }
  return x
}
