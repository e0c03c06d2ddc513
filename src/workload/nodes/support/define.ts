import { nodeFactory, type RunContext, socket } from '../../graph/node.ts'
import type { ImageSource } from '../../image/images.ts'
import type { Conditioning } from '../../model/conditioning.ts'
import type { ControlModel } from '../../model/control.ts'
import type { DiffusionModel, Latent, ModelStore, TextEncoder, Upscaler, Vae } from '../../model/ports.ts'
import type { Guider } from '../../sampling/guider.ts'
import type { NoiseSource } from '../../sampling/noise-source.ts'
import type { Sampler } from '../../sampling/sampler.ts'
import type { Scheduler } from '../../sampling/scheduler.ts'
import type { Tensor } from '../../tensor/tensor.ts'

export const MODEL = socket<DiffusionModel>('MODEL')
/** Undefined when the checkpoint has no text encoder: the node that uses it says so. */
export const CLIP = socket<TextEncoder | undefined>('CLIP')
/** Undefined when the checkpoint has no autoencoder: the node that uses it says so. */
export const VAE = socket<Vae | undefined>('VAE')
export const CONDITIONING = socket<Conditioning>('CONDITIONING')
export const LATENT = socket<Latent>('LATENT')
/** `[N, H, W, C]`, 0 to 1, C 3 or 4 */
export const IMAGE = socket<Tensor>('IMAGE')
/** `[N, H, W]`, 0 to 1 */
export const MASK = socket<Tensor>('MASK')

export const CONTROL_NET = socket<ControlModel>('CONTROL_NET')
export const UPSCALE_MODEL = socket<Upscaler>('UPSCALE_MODEL')
export const SAMPLER = socket<Sampler>('SAMPLER')
/** Noise levels, falling. */
export const SIGMAS = socket<Float32Array>('SIGMAS')
export const NOISE = socket<NoiseSource>('NOISE')
/** What may be done to latents `[N, C, H, W]`, in the autoencoder's or the network's scale. */
export const LATENT_OPERATION = socket<(latents: Tensor) => Tensor>('LATENT_OPERATION')
export const GUIDER = socket<Guider>('GUIDER')
export const STRING = socket<string>('STRING')
export const INT = socket<bigint | number>('INT')
export const FLOAT = socket<number>('FLOAT')
export const BOOLEAN = socket<boolean>('BOOLEAN')

/** The largest side of an image or latent, in pixels. */
export const MAX_RESOLUTION = 16_384

/** All that a node may touch while it runs. Closed: nothing of one model family ever joins it. */
export interface NodeContext extends RunContext {
  readonly models: ModelStore
  readonly images: ImageSource
}

/** All that validation may ask of the host. */
export interface NodeCheck {
  /** Whether an image input of that name can be read. */
  hasImage(name: string): Promise<boolean>
}

/** What was discovered at start-up, for nodes that offer a choice of it. Such a node's file exports a function of this. */
export interface Catalogue {
  readonly samplers: ReadonlyMap<string, Sampler>
  readonly schedulers: ReadonlyMap<string, Scheduler>
  /** The model files of a folder at this moment, sorted. */
  files(folder: string): Promise<readonly string[]>
  /** The images of the input folder at this moment, sorted. */
  inputImages(): Promise<readonly string[]>
}

export const defineNode = nodeFactory<NodeContext, NodeCheck>()
