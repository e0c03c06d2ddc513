import type { ModelSampling } from '../model/ports.ts'
import { addScaled, combined, scaled, type Tensor } from '../tensor/tensor.ts'

/** The part of a ModelSampling that follows from what the network's output means. */
export type Prediction = Pick<ModelSampling, 'flow' | 'scaleInput' | 'denoised' | 'addNoise' | 'removeNoise'>

/** What networks that were trained on image + σ·noise may be trained to give. */
export type NoisedOutput = 'eps' | 'v' | 'edm' | 'x0' | 'imgToImg'

/**
 * Networks trained on image + σ·noise, fed at unit variance. `eps`: the output is the noise (Ho et al. 2020). `v`: a
 * mix of noise and image (Salimans and Ho 2022). `edm`: the same with the sign turned (Karras et al. 2022). `x0`: the
 * image. `imgToImg`: the image, by a network that is fed x as it is. `sigmaData` is the standard deviation of the
 * training images.
 */
export function noisedPrediction(output: NoisedOutput, sigmaData = 1): Prediction {
  const norm = (sigma: number) => Math.sqrt(sigma ** 2 + sigmaData ** 2)
  const mixed = (sign: 1 | -1) => (x: Tensor, out: Tensor, sigma: number) =>
    combined([sigmaData ** 2 / norm(sigma) ** 2, x], [(sign * sigma * sigmaData) / norm(sigma), out])
  const denoised: Readonly<Record<NoisedOutput, Prediction['denoised']>> = {
    eps: (x, out, sigma) => addScaled(x, out, -sigma),
    v: mixed(-1),
    edm: mixed(1),
    x0: (_x, out) => out,
    imgToImg: (_x, out) => out,
  }
  return {
    flow: false,
    scaleInput: (x, sigma) => (output === 'imgToImg' ? x : scaled(x, 1 / norm(sigma))),
    denoised: denoised[output],
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
