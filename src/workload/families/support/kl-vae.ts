import { decoderGraph, encoderGraph, readAutoencoderConfig } from '../../architectures/autoencoder-kl.ts'
import type { Vae } from '../../model/ports.ts'
import { channelsFirst } from '../../tensor/channels.ts'
import { rowsOf, stackRows, takeRows } from '../../tensor/rows.ts'
import { mapped, type Tensor, tensor } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

/** A KL autoencoder; equal keys share sessions. Pictures go through one by one: at their size a batch costs memory and gains nothing. */
export function createKlVae(key: string, view: WeightView, { runtime, lower }: FamilyServices): Vae {
  const { latentChannels, downscale } = readAutoencoderConfig(view)
  const part = (name: string, build: typeof decoderGraph) =>
    runtime.session({
      key: `${name} ${key}`,
      weightBytes: bytesOf(view) / 2,
      build: () => sourceOf(build(view, lower.autoencoder)),
    })
  const decoder = part('vae decoder', decoderGraph)
  const encoder = part('vae encoder', encoderGraph)

  const decodeOne = async (latents: Tensor) => {
    const { pixels } = await decoder.run({ latents })
    return pixels!
  }
  const encodeOne = async (image: Tensor) => {
    const { moments } = await encoder.run({ pixels: mapped(channelsFirst(opaque(image)), (value) => value * 2 - 1) })
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

/** `[N, H, W, C]` without the channels beyond the third. */
function opaque(pixels: Tensor): Tensor {
  const channels = pixels.dims[3]!
  if (channels === 3) return pixels
  const data = new Float32Array((pixels.data.length / channels) * 3)
  for (let i = 0; i < data.length; i++) data[i] = pixels.data[Math.floor(i / 3) * channels + (i % 3)]!
  return tensor([...pixels.dims.slice(0, 3), 3], data)
}
