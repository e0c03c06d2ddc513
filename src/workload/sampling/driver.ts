import { WorkloadError } from '../base/errors.ts'
import type { DiffusionModel, Latent, ModelSampling } from '../model/ports.ts'
import { createGenerator } from '../tensor/random.ts'
import { isZero, type Tensor, zeros } from '../tensor/tensor.ts'
import type { Guider } from './guider.ts'
import { createMaskedGuess, maskFor, sizedMask } from './inpaint.ts'
import type { Sampler, SamplingRun } from './sampler.ts'
import type { Scheduler } from './scheduler.ts'

/** All that a run of a sampler over latents takes. */
export interface LatentRun {
  readonly guider: Guider
  readonly latent: Latent
  /** In the shape of the latents; noughts when they are noisy already. */
  readonly noise: Tensor
  readonly sampler: Sampler
  readonly sigmas: Float32Array
  /** For the noise that the sampler adds on its way. */
  readonly seed: bigint
  readonly signal: AbortSignal
  /** After each step: how many are done, of how many, and the guess at the clean image in the network's scale. */
  readonly onStep?: SamplingRun['onStep']
}

/** What a run ends with, in the autoencoder's scale: `[N, C, H, W]` each. */
export interface SampledLatents {
  readonly samples: Tensor
  /** The guess at the clean image of the last step; the samples themselves when there was no step. */
  readonly denoised: Tensor
}

/**
 * Latents as `sampler` makes them from `latent` under `noise`; without levels, the latents as they are. Throws
 * `execution-failed` when the latents are not of the model's kind.
 */
export async function sampleLatent(run: LatentRun): Promise<SampledLatents> {
  const { guider, noise, sampler, sigmas, seed, signal, onStep } = run
  const { model } = guider
  const { samples, noiseMask } = fittedLatent(model, run.latent)
  if (sigmas.length === 0) return { samples, denoised: samples }
  requireShape('noise', noise, samples)

  const { sampling, latent: format } = model
  const latent = isZero(samples) ? samples : format.processIn(samples)
  const sized = noiseMask && sizedMask(noiseMask, samples.dims)
  const free = guider.guide({ latent, noiseMask: sized, asksNegative: sampler.asksNegative ?? false, signal })
  const guess = sized
    ? createMaskedGuess({
        guess: free,
        model: sampling,
        latent,
        noise: sampler.drawsMaskNoise ? createGenerator(seed + 1n).randn(noise.dims) : noise,
        mask: maskFor(sized, samples.dims),
        maskHook: model.guidance?.findLast((hook) => hook.mask),
        sigmas,
      })
    : free

  let last: Tensor | undefined
  const first = sigmas[0]!
  const x = sampling.addNoise(first, noise, latent, reaches(first, sampling.sigmaMax))
  const y = await sampler.sample(x, {
    denoise: async (noisy, sigma) => (await guess(noisy, sigma)).denoised,
    denoisePair: guess,
    sigmas,
    model: sampling,
    seed,
    signal,
    onStep(step, total, denoised) {
      last = denoised
      onStep?.(step, total, denoised)
    },
  })
  const made = format.processOut(sampling.removeNoise(sampler.endsAt?.(sigmas) ?? sigmas.at(-1)!, y))
  return { samples: made, denoised: last ? format.processOut(last) : made }
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
