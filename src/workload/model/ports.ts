import type { Tensor } from '../tensor/tensor.ts'

/** The noise levels a network was trained on and what its output means. Implemented in `sampling/`. */
export interface ModelSampling {
  /** All levels the model knows, rising. */
  readonly sigmas: Float32Array
  readonly sigmaMin: number
  readonly sigmaMax: number
  /** Flow models (rectified flow) mix noise and image; the others add noise to the image. */
  readonly flow: boolean
  /** The number the network takes for noise level `sigma`. */
  timestep(sigma: number): number
  /** The inverse of `timestep`, interpolated. */
  sigma(timestep: number): number
  /** The level at fraction `percent` of the way from noise (0) to image (1). */
  percentToSigma(percent: number): number
  /** What the network is fed for `x` at `sigma`. */
  scaleInput(x: Tensor, sigma: number): Tensor
  /** The clean image that the network's `output` for `x` at `sigma` stands for. */
  denoised(x: Tensor, output: Tensor, sigma: number): Tensor
  /** `noise` brought to level `sigma` and mixed with `latent`; `maxDenoise` when nothing of the image remains. */
  addNoise(sigma: number, noise: Tensor, latent: Tensor, maxDenoise: boolean): Tensor
  /** Undoes the mixing of `addNoise` at the last level of a schedule. */
  removeNoise(sigma: number, x: Tensor): Tensor
}

/** How a family's networks see latents: same axes, other scale. */
export interface LatentFormat {
  readonly channels: number
  /** Autoencoder's scale → network's scale. */
  processIn(latent: Tensor): Tensor
  /** Network's scale → autoencoder's scale. */
  processOut(latent: Tensor): Tensor
}

/** One entry of a CONDITIONING: an encoded text and where, when and how strongly it applies. */
export interface ConditioningEntry {
  /** `[1, tokens, width]` */
  readonly context: Tensor
  /** `[1, width]`, of encoders that give one. */
  readonly pooled?: Tensor | undefined
  readonly strength?: number
}

/** What steers a diffusion model, as it flows along CONDITIONING wires. */
export type Conditioning = readonly ConditioningEntry[]

/** Further inputs of a network for one row, by the network's name for them; first axis 1. */
export type ModelInputs = Readonly<Record<string, Tensor>>

/** The network that removes noise, as nodes, guiders and samplers see it. */
export interface DiffusionModel {
  readonly sampling: ModelSampling
  readonly latent: LatentFormat
  /** What the network needs beside `x` for `entry`, at a latent size. */
  inputsFor(entry: ConditioningEntry, size: { readonly height: number; readonly width: number }): ModelInputs
  /**
   * One pass of the network: `x` `[N, C, H, W]` already scaled by `sampling.scaleInput`, one timestep a row, further
   * inputs with N rows → the raw output `[N, C, H, W]`.
   */
  predict(x: Tensor, timesteps: readonly number[], inputs: ModelInputs): Promise<Tensor>
}

/** Turns text into conditioning. */
export interface TextEncoder {
  /** `text` in ComfyUI's prompt syntax (weights, `embedding:`), chunked by 77 tokens. */
  encode(text: string): Promise<Conditioning>
  /** The same encoder that stops at `layer` (-1 is the last); ComfyUI's clip skip. */
  stoppingAt(layer: number): TextEncoder
}

/** Turns latents into pixels and back. */
export interface Vae {
  /** Pixels a latent cell, along each side. */
  readonly downscale: number
  readonly channels: number
  /** Latents `[N, C, H, W]` → pixels `[N, H·downscale, W·downscale, 3]`, 0 to 1. */
  decode(latents: Tensor): Promise<Tensor>
  /** Pixels `[N, H, W, 3]`, 0 to 1, sides multiples of `downscale` → the mean latents `[N, C, h, w]`. */
  encode(pixels: Tensor): Promise<Tensor>
}

/** What a checkpoint file holds; a part is absent when the file has no weights for it. */
export interface Checkpoint {
  readonly model: DiffusionModel
  readonly clip: TextEncoder | undefined
  readonly vae: Vae | undefined
}

/** Opens models by name. Nodes ask it; they never see a session, a path or an execution provider. */
export interface ModelStore {
  /** Changes when the file of that name is replaced; rejects when there is none. */
  version(folder: 'checkpoints' | 'vae', name: string): Promise<string>
  checkpoint(name: string): Promise<Checkpoint>
  vae(name: string): Promise<Vae>
}

/** Latents on a LATENT wire, in the autoencoder's scale. */
export interface Latent {
  /** `[N, C, H, W]` */
  readonly samples: Tensor
  /** `[N, 1, H, W]` or any size that is resized to the latents: 1 where the sampler may change the image. */
  readonly noiseMask?: Tensor | undefined
  /** Which row of the seed's noise each row takes. */
  readonly batchIndex?: readonly number[] | undefined
}
