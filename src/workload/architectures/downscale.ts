import type { Wire } from '../onnx/graph-builder.ts'
import { arithmeticOf } from './graph-arithmetic.ts'
import { type GraphResizeMethod, resizedInGraph } from './graph-resize.ts'
import type { UnetAlteration } from './unet.ts'

export interface DownscaleOptions {
  /** The input block behind which the picture is smaller. */
  readonly block: number
  readonly factor: number
  /** Whether the block's skip connection keeps its size. */
  readonly afterSkip: boolean
  readonly downscaleMethod: GraphResizeMethod
  readonly upscaleMethod: GraphResizeMethod
}

/**
 * Kohya's Deep Shrink: what an input block gives is made smaller by `factor`, so that large pictures are composed at
 * the size the network knows, and brought back to the size of the skip connections in the decoder.
 */
export const downscale =
  ({ block, factor, afterSkip, downscaleMethod, upscaleMethod }: DownscaleOptions): UnetAlteration =>
  (lowering) => {
    const { graph } = lowering
    const { sizes, cast, multiply } = arithmeticOf(graph)
    // Python rounds sides as double numbers, a half to the even one; so does this operator.
    const share = graph.constant([1], Float64Array.of(1 / factor))
    const shrunk = (h: Wire, at: number) => {
      if (at !== block) return h
      const image = lowering.toImage(h)
      const size = cast(graph.op('Round', [multiply(cast(sizes(image, 2, 4), 'float64'), share)]), 'int64')
      return lowering.fromImage(resizedInGraph(graph, image, size, downscaleMethod))
    }
    /** The first connection of the old size; all others have the size of the feature map that they meet. */
    const larger = afterSkip ? block : block - 1
    return {
      ...(afterSkip ? { afterSkip: shrunk } : { afterInput: shrunk }),
      beforeJoin(h, skip, { skipOf }) {
        if (skipOf !== larger) return { h, skip }
        const size = sizes(lowering.toImage(skip), 2, 4)
        return { h: lowering.fromImage(resizedInGraph(graph, lowering.toImage(h), size, upscaleMethod)), skip }
      },
    }
  }
