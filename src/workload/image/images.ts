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

/** Pictures that a node hands to the client. */
export interface ImageArtifact {
  readonly kind: 'image'
  /** `[N, H, W, C]`, 0 to 1 */
  readonly pixels: Tensor
  /** ComfyUI's `filename_prefix`, placeholders not yet replaced. */
  readonly prefix: string
  /** Previews are shown while a prompt runs and are no result of it. */
  readonly retention: 'output' | 'temp'
}
