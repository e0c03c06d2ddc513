import type { UpscalerConfig } from '../../architectures/esrgan.ts'
import type { GraphModel, LoweringFor } from '../../architectures/lowering.ts'
import type { Upscaler } from '../../model/ports.ts'
import { slicedAlong } from '../../tensor/axes.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import type { FamilyServices } from './family.ts'
import { sourceOf } from './session-source.ts'

export interface UpscalerParts extends UpscalerConfig {
  /** Which file it is, and changes when it is replaced: equal keys share a session. */
  readonly key: string
  readonly view: WeightView
  /** `pixels` `[N, 3, H, W]` → `enlarged` `[N, 3, H·scale, W·scale]`. */
  graph(view: WeightView, lower: LoweringFor): GraphModel
}

/** An enlarging network in a session; in float32 everywhere, as the reference runs it. */
export function createUpscaler(parts: UpscalerParts, { runtime, lower }: FamilyServices): Upscaler {
  const { key, view, scale, multiple, graph } = parts
  const session = runtime.session({
    key: `upscaler ${key}`,
    weightBytes: bytesOf(view),
    build: () => sourceOf(graph(view, lower.autoencoder)),
  })
  return {
    scale,
    async upscale(pixels) {
      const [, , height, width] = pixels.dims as [number, number, number, number]
      const { enlarged } = await session.run({ pixels: reflectedTo(pixels, multiple) })
      if (multiple === 1) return enlarged!
      return slicedAlong(slicedAlong(enlarged!, 2, 0, height * scale), 3, 0, width * scale)
    },
  }
}

/** `[N, C, H, W]` whose sides are rounded up to `multiple`: on the right and below as in a mirror at the last pixel. */
function reflectedTo(t: Tensor, multiple: number): Tensor {
  const [rows, channels, height, width] = t.dims as [number, number, number, number]
  const upTo = (side: number) => Math.ceil(side / multiple) * multiple
  const [tall, wide] = [upTo(height), upTo(width)]
  if (tall === height && wide === width) return t
  const mirrored = (at: number, side: number) => (at < side ? at : Math.max(0, 2 * (side - 1) - at))
  const data = new Float32Array(rows * channels * tall * wide)
  for (let line = 0; line < rows * channels * tall; line++) {
    const from = (Math.floor(line / tall) * height + mirrored(line % tall, height)) * width
    for (let x = 0; x < wide; x++) data[line * wide + x] = t.data[from + mirrored(x, width)]!
  }
  return tensor([rows, channels, tall, wide], data)
}
