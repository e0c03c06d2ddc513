import { WorkloadError } from '../base/errors.ts'
import type { Conditioning } from '../model/conditioning.ts'
import type { DiffusionModel, Latent, ModelSampling } from '../model/ports.ts'
import { createGenerator } from '../tensor/random.ts'
import { stackRows } from '../tensor/rows.ts'
import { isZero, type Tensor, zeros } from '../tensor/tensor.ts'
import { createGuidedDenoiser } from './guidance.ts'
import { createMaskedDenoiser, maskFor } from './inpaint.ts'
import type { Sampler, SamplingRun } from './sampler.ts'
import type { Scheduler } from './scheduler.ts'

/** All that a run of a sampler over latents takes. */
export interface LatentRun {
  readonly model: DiffusionModel
  readonly latent: Latent
  /** In the shape of the latents; noughts when they are noisy already. */
  readonly noise: Tensor
  readonly positive: Conditioning
  readonly negative: Conditioning
  readonly cfg: number
  readonly sampler: Sampler
  readonly sigmas: Float32Array
  /** For the noise that the sampler adds on its way. */
  readonly seed: bigint
  readonly signal: AbortSignal
  /** After each step: how many are done, of how many, and the guess at the clean image in the network's scale. */
  readonly onStep?: SamplingRun['onStep']
}

/**
 * Latents `[N, C, H, W]` as `sampler` makes them from `latent` under `noise`, in the autoencoder's scale; without
 * levels, the latents as they are. Throws `execution-failed` when the latents are not of the model's kind.
 */
export async function sampleLatent(run: LatentRun): Promise<Tensor> {
  const { model, noise, sampler, sigmas, seed, signal, onStep } = run
  const { samples, noiseMask } = fittedLatent(model, run.latent)
  if (sigmas.length === 0) return samples
  requireShape('noise', noise, samples)

  const { sampling, latent: format } = model
  const latent = isZero(samples) ? samples : format.processIn(samples)
  const guided = createGuidedDenoiser(run)
  const denoise = noiseMask
    ? createMaskedDenoiser({
        denoise: guided,
        model: sampling,
        latent,
        noise: sampler.drawsMaskNoise ? createGenerator(seed + 1n).randn(noise.dims) : noise,
        mask: maskFor(noiseMask, samples.dims),
      })
    : guided

  const first = sigmas[0]!
  const x = sampling.addNoise(first, noise, latent, reaches(first, sampling.sigmaMax))
  const y = await sampler.sample(x, { denoise, sigmas, model: sampling, seed, signal, ...(onStep && { onStep }) })
  return format.processOut(sampling.removeNoise(sigmas.at(-1)!, y))
}

/**
 * The noise of a seed for latents: one draw for all rows or, where the latents name them, the rows of that draw which
 * each would have had in the batch they came from.
 */
export function prepareNoise({ samples, batchIndex }: Latent, seed: bigint): Tensor {
  const generator = createGenerator(seed)
  if (!batchIndex) return generator.randn(samples.dims)
  const rowDims = [1, ...samples.dims.slice(1)]
  const drawn = Array.from({ length: Math.max(...batchIndex) + 1 }, () => generator.randn(rowDims))
  return stackRows(
    batchIndex.map((index) => drawn[index]!),
    batchIndex.length,
  )
}

/**
 * The levels of a KSampler run, falling. With `denoise` below 1 they are the last `steps` of a proportionally longer
 * schedule, so that the run begins in less noise; at 0 there are none.
 */
export function scheduleFor({
  scheduler,
  sampler,
  model,
  steps,
  denoise,
}: {
  readonly scheduler: Scheduler
  readonly sampler: Sampler
  readonly model: ModelSampling
  readonly steps: number
  readonly denoise: number
}): Float32Array {
  if (denoise <= 0) return new Float32Array()
  const all = (count: number): Float32Array => {
    if (!sampler.discardsPenultimate) return scheduler.sigmas(count, model)
    const sigmas = scheduler.sigmas(count + 1, model)
    return Float32Array.of(...sigmas.subarray(0, -2), ...sigmas.subarray(-1))
  }
  return denoise > 0.9999 ? all(steps) : all(Math.trunc(steps / denoise)).subarray(-(steps + 1))
}

/**
 * The part of a schedule from step `start` to step `end`, as KSamplerAdvanced cuts it; when it stops early it goes
 * straight to the clean image unless `leftoverNoise` is kept. Empty when it begins where the schedule ends.
 */
export function stepRange(
  sigmas: Float32Array,
  { start, end, leftoverNoise }: { readonly start: number; readonly end: number; readonly leftoverNoise: boolean },
): Float32Array {
  const range = sigmas.slice(0, end + 1)
  if (end < sigmas.length - 1 && !leftoverNoise) range[range.length - 1] = 0
  return start < range.length - 1 ? range.subarray(start) : new Float32Array()
}

/** Latents for `model`: empty ones take its number of channels. Throws `execution-failed` for others that have not. */
export function fittedLatent(model: DiffusionModel, latent: Latent): Latent {
  const { channels } = model.latent
  const [rows, given, ...size] = latent.samples.dims as [number, number, ...number[]]
  if (given === channels) return latent
  if (isZero(latent.samples)) return { ...latent, samples: zeros([rows, channels, ...size]) }
  throw new WorkloadError('execution-failed', `the model takes latents of ${channels} channels, these have ${given}`)
}

/** Whether `sigma` is the highest level or beyond, so that nothing of the image remains. */
function reaches(sigma: number, sigmaMax: number): boolean {
  return sigma > sigmaMax || Math.abs(sigmaMax - sigma) <= 1e-5 * Math.max(sigma, sigmaMax)
}

function requireShape(what: string, t: Tensor, like: Tensor): void {
  if (t.dims.join() === like.dims.join()) return
  throw new WorkloadError('execution-failed', `the ${what} has the shape [${t.dims}], the latents [${like.dims}]`)
}
