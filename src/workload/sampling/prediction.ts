import type { ModelSampling } from '../model/ports.ts'
import { addScaled, combined, scaled, type Tensor } from '../tensor/tensor.ts'

/** The part of a ModelSampling that follows from what the network's output means. */
export type Prediction = Pick<ModelSampling, 'flow' | 'scaleInput' | 'denoised' | 'addNoise' | 'removeNoise'>

/** What networks that were trained on image + σ·noise may be trained to give. */
export type NoisedOutput = 'eps' | 'v' | 'edm'

/**
 * Networks trained on image + σ·noise, fed at unit variance. `eps`: the output is the noise (Ho et al. 2020). `v`: a
 * mix of noise and image (Salimans and Ho 2022). `edm`: the same with the sign turned (Karras et al. 2022).
 * `sigmaData` is the standard deviation of the training images.
 */
export function noisedPrediction(output: NoisedOutput, sigmaData = 1): Prediction {
  const norm = (sigma: number) => Math.sqrt(sigma ** 2 + sigmaData ** 2)
  const sign = output === 'v' ? -1 : 1
  return {
    flow: false,
    scaleInput: (x, sigma) => scaled(x, 1 / norm(sigma)),
    denoised: (x, out, sigma) =>
      output === 'eps'
        ? addScaled(x, out, -sigma)
        : combined([sigmaData ** 2 / norm(sigma) ** 2, x], [(sign * sigma * sigmaData) / norm(sigma), out]),
    addNoise: (sigma, noise, latent, maxDenoise) =>
      addScaled(latent, noise, maxDenoise ? Math.sqrt(1 + sigma ** 2) : sigma),
    removeNoise: (_sigma, x) => x,
  }
}

/** Networks trained on (1 - σ)·image + σ·noise, whose output is noise - image (Lipman et al. 2023). */
export const flowPrediction: Prediction = Object.freeze({
  flow: true,
  scaleInput: (x: Tensor) => x,
  denoised: (x: Tensor, out: Tensor, sigma: number) => addScaled(x, out, -sigma),
  addNoise: (sigma: number, noise: Tensor, latent: Tensor) => combined([sigma, noise], [1 - sigma, latent]),
  removeNoise: (sigma: number, x: Tensor) => (sigma === 0 ? x : scaled(x, 1 / (1 - sigma))),
})
