import type { Tensor } from '../tensor/tensor.ts'
import type { Alteration } from './alterations.ts'
import type { Conditioning, ConditioningEntry } from './conditioning.ts'
import type { ControlModel, ControlResiduals } from './control.ts'
import type { GuidanceHook } from './guidance.ts'
import type { AppliedPatch, WeightPatch } from './patches.ts'

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

/** Red, green and blue, -1 (dark) to 1 (bright). */
export type Colour = readonly [red: number, green: number, blue: number]

/** What latents in the network's scale look like, roughly: good enough to watch a picture grow. */
export interface LatentColours {
  /** What one of each channel adds to the colour of its cell. */
  readonly factors: readonly Colour[]
  /** The colour of a cell of noughts; grey unless given. */
  readonly bias?: Colour
}

/** How a family's networks see latents: same axes, other scale. */
export interface LatentFormat {
  readonly channels: number
  /** Absent where nobody knows: such latents cannot be watched. */
  readonly colours?: LatentColours | undefined
  /** Autoencoder's scale → network's scale. */
  processIn(latent: Tensor): Tensor
  /** Network's scale → autoencoder's scale. */
  processOut(latent: Tensor): Tensor
}

/** Further inputs of a network for one row, by the network's name for them; first axis 1. */
export type ModelInputs = Readonly<Record<string, Tensor>>

/** What a pass of the network may be told beside its inputs. */
export interface PassOptions {
  /** The noise level of all rows, for networks that compute differently at some levels. */
  readonly sigma?: number
  readonly control?: ControlResiduals | undefined
}

/** The bare network of a diffusion model. Values: what patches or alters one gives another. */
export interface Network {
  /**
   * One pass: `x` `[N, C, H, W]` already scaled by `sampling.scaleInput`, one timestep a row, further inputs with N
   * rows → the raw output `[N, C, H, W]`.
   */
  predict(x: Tensor, timesteps: readonly number[], inputs: ModelInputs, options?: PassOptions): Promise<Tensor>
  /** With `patches` behind those it has. Throws `execution-failed` when its weights cannot be changed. */
  patched(patches: readonly AppliedPatch[]): Network
  /** Its weights as they are now, to be added to those of another; absent when they cannot be read. */
  asPatch?(): WeightPatch
  /** With `alteration` behind those it has. Throws `execution-failed` when it cannot be altered so. */
  altered(alteration: Alteration): Network
}

/** What a conditioning entry is turned into network inputs for. */
export interface InputRequest {
  /** Latent cells. */
  readonly height: number
  readonly width: number
  /** Whether the entry is one to steer away from. */
  readonly negative?: boolean
  /** The picture that the run begins with, in the network's scale: `[N, C, H, W]`. */
  readonly latent?: Tensor | undefined
  /** 1 where the run may change the picture: `[N, 1, H, W]`. */
  readonly noiseMask?: Tensor | undefined
}

/** A network that removes noise with all that belongs to it, as it flows along MODEL wires. A plain value. */
export interface DiffusionModel {
  readonly network: Network
  readonly sampling: ModelSampling
  readonly latent: LatentFormat
  /** Changes to how guesses are combined, in the order in which nodes made them. */
  readonly guidance?: readonly GuidanceHook[]
  /** What the network needs beside `x` for `entry`; 4-d inputs have the latents' height and width. */
  inputsFor(entry: ConditioningEntry, request: InputRequest): ModelInputs
}

/** One text for every encoder of a model, or one for each (SDXL has `l` and `g`). */
export type PromptText = string | Readonly<Record<'l' | 'g', string>>

/** Turns text into conditioning. */
export interface TextEncoder {
  /** `text` in ComfyUI's prompt syntax (weights, `embedding:`), chunked by 77 tokens. */
  encode(text: PromptText): Promise<Conditioning>
  /** The same encoder that stops at `layer` (-1 is the last); ComfyUI's clip skip. */
  stoppingAt(layer: number): TextEncoder
  /** With `patches` behind those it has. Throws `execution-failed` when its weights cannot be changed. */
  patched(patches: readonly AppliedPatch[]): TextEncoder
  /** Its weights as they are now, to be added to those of another; absent when they cannot be read. */
  asPatch?(): WeightPatch
}

/** The squares that a picture goes through an autoencoder in, where the whole would not fit into the memory. */
export interface Tiles {
  /** Pixels along a side. */
  readonly size: number
  /** Pixels that neighbours share. */
  readonly overlap: number
}

/** Turns latents into pixels and back. */
export interface Vae {
  /** Pixels a latent cell, along each side. */
  readonly downscale: number
  readonly channels: number
  /** Latents `[N, C, H, W]` → pixels `[N, H·downscale, W·downscale, 3]`, 0 to 1. */
  decode(latents: Tensor, tiles?: Tiles): Promise<Tensor>
  /** Pixels `[N, H, W, 3]`, 0 to 1, sides multiples of `downscale` → the mean latents `[N, C, h, w]`. */
  encode(pixels: Tensor, tiles?: Tiles): Promise<Tensor>
}

/** What a checkpoint file holds; a part is absent when the file has no weights for it. */
export interface Checkpoint {
  readonly model: DiffusionModel
  readonly clip: TextEncoder | undefined
  readonly vae: Vae | undefined
}

/** A network that enlarges pictures. */
export interface Upscaler {
  /** How many times larger each side becomes. */
  readonly scale: number
  /** `[N, 3, H, W]`, 0 to 1 → `[N, 3, H·scale, W·scale]`, not cut off at 0 and 1. */
  upscale(pixels: Tensor): Promise<Tensor>
}

/**
 * Opens models by name. Nodes ask it; they never see a session, a path or an execution provider. Every method rejects
 * with `execution-failed` when there is no such file or it holds nothing of the kind, and says which.
 */
export interface ModelStore {
  /** Changes when the file (or a file in the folder) of that name is replaced. */
  version(folder: string, name: string): Promise<string>
  checkpoint(name: string): Promise<Checkpoint>
  /** A folder in the layout of diffusers, with safetensors or ONNX networks. */
  diffusers(name: string): Promise<Checkpoint>
  /** A file with a diffusion network alone. */
  diffusionModel(name: string): Promise<DiffusionModel>
  /** Text encoders from files of their own, joined as models of `type` take them. */
  textEncoder(names: readonly string[], type: string): Promise<TextEncoder>
  vae(name: string): Promise<Vae>
  controlNet(name: string): Promise<ControlModel>
  upscaler(name: string): Promise<Upscaler>
  lora(name: string): Promise<WeightPatch>
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
