import type { Tensor } from '../tensor/tensor.ts'

/** A decoded picture. */
export interface LoadedImage {
  /** `[N, H, W, 3]`, 0 to 1: all frames of one size. */
  readonly pixels: Tensor
  /** `[N, H, W]`: 1 - alpha; undefined when the file has no transparency. */
  readonly mask: Tensor | undefined
}

/** Where nodes get pictures from, by the name a prompt gives. */
export interface ImageSource {
  load(name: string): Promise<LoadedImage>
  /** One channel of the first frame as it is, `[1, H, W]`, 0 to 1; a file without transparency has alpha 1 everywhere. */
  loadChannel(name: string, channel: 'alpha' | 'red' | 'green' | 'blue'): Promise<Tensor>
  /** SHA-256 of the file's bytes, in hex. */
  hash(name: string): Promise<string>
}

/** What a node hands to the client. */
export type Artifact = ImageArtifact | AnimationArtifact | TextArtifact

/** Pictures, a file each. */
export interface ImageArtifact {
  readonly kind: 'image'
  /** `[N, H, W, C]`, 0 to 1 */
  readonly pixels: Tensor
  /** ComfyUI's `filename_prefix`, placeholders not yet replaced. */
  readonly prefix: string
  /** Previews are shown while a prompt runs and are no result of it. */
  readonly retention: 'output' | 'temp'
}

/** Pictures that become one moving picture. */
export interface AnimationArtifact {
  readonly kind: 'animation'
  /** `[N, H, W, C]`, 0 to 1: the frames. */
  readonly pixels: Tensor
  readonly prefix: string
  readonly retention: 'output'
  readonly encoding: AnimatedWebp | AnimatedPng
}

/** How a moving WebP is written. */
export interface AnimatedWebp {
  readonly format: 'webp'
  /** How long each frame is shown, in milliseconds, to 65535. */
  readonly delay: number
  readonly lossless: boolean
  /** 0 to 100 */
  readonly quality: number
  /** 0 (fast) to 6 (small) */
  readonly effort: number
}

/** How a moving PNG is written. */
export interface AnimatedPng {
  readonly format: 'png'
  /** How long each frame is shown, in milliseconds, to 65535. */
  readonly delay: number
  /** 0 to 9 */
  readonly compressionLevel: number
}

/** A text that is shown while a prompt runs. */
export interface TextArtifact {
  readonly kind: 'text'
  readonly text: string
  readonly retention: 'temp'
}
