import { decoderGraph, encoderGraph, readAutoencoderConfig } from '../../architectures/autoencoder-kl.ts'
import type { Vae } from '../../model/ports.ts'
import { rowsOf, stackRows, takeRows } from '../../tensor/rows.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

/** A KL autoencoder. Pictures go through one by one: at their size a batch costs memory and gains nothing. */
export function createKlVae(file: SafetensorsFile, view: WeightView, { runtime, lower }: FamilyServices): Vae {
  const { latentChannels, downscale } = readAutoencoderConfig(view)
  const part = (name: string, build: typeof decoderGraph) =>
    runtime.session({
      key: `${name} ${file.path} ${file.version}`,
      weightBytes: bytesOf(view) / 2,
      build: () => sourceOf(build(view, lower.autoencoder)),
    })
  const decoder = part('vae decoder', decoderGraph)
  const encoder = part('vae encoder', encoderGraph)

  const decodeOne = async (latents: Tensor) => {
    const { pixels } = await decoder.run({ latents })
    return channelsLast(pixels!, (value) => Math.min(1, Math.max(0, (value + 1) / 2)))
  }
  const encodeOne = async (image: Tensor) => {
    const { moments } = await encoder.run({ pixels: channelsFirst(image, (value) => value * 2 - 1) })
    const { dims, data } = moments!
    return tensor([1, latentChannels, dims[2]!, dims[3]!], data.subarray(0, data.length / 2))
  }
  return {
    downscale,
    channels: latentChannels,
    decode: (latents) => rowByRow(latents, decodeOne),
    encode: (pixels) => rowByRow(pixels, encodeOne),
  }
}

async function rowByRow(t: Tensor, work: (row: Tensor) => Promise<Tensor>): Promise<Tensor> {
  const results: Tensor[] = []
  for (let row = 0; row < rowsOf(t); row++) results.push(await work(takeRows(t, row, row + 1)))
  return stackRows(results, results.length)
}

/** `[1, C, H, W]` → `[1, H, W, C]`, each value through `f`. */
function channelsLast({ dims, data }: Tensor, f: (value: number) => number): Tensor {
  const [, channels = 0, height = 0, width = 0] = dims
  const plane = height * width
  const out = new Float32Array(data.length)
  for (let c = 0; c < channels; c++) for (let i = 0; i < plane; i++) out[i * channels + c] = f(data[c * plane + i]!)
  return tensor([1, height, width, channels], out)
}

/** `[1, H, W, C]` → `[1, 3, H, W]`, each value through `f`; channels beyond the third are left out. */
function channelsFirst({ dims, data }: Tensor, f: (value: number) => number): Tensor {
  const [, height = 0, width = 0, channels = 0] = dims
  const plane = height * width
  const out = new Float32Array(3 * plane)
  for (let c = 0; c < 3; c++) for (let i = 0; i < plane; i++) out[c * plane + i] = f(data[i * channels + c]!)
  return tensor([1, 3, height, width], out)
}
