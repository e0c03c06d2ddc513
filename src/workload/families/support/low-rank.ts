import { slotInputs } from '../../architectures/slots.ts'
import type { SharedTensors } from '../../runtime/session.ts'
import { type Tensor, tensor, zeros } from '../../tensor/tensor.ts'
import type { WeightChanges } from '../../weights/patch-view.ts'
import { withTensorReader } from '../../weights/tensor-reader.ts'
import { bytesOf, type WeightView } from '../../weights/weight-view.ts'
import { type Factored, factored } from './factored.ts'

/** Tells the layers that low-rank changes may be handed to at each run. */
export type HasSlot = (layer: string) => boolean

/** Those of the transformers of a UNet, if its weights occupy at least `least` bytes. */
export function slotsOf(view: WeightView, least: number): HasSlot {
  const isLarge = bytesOf(view) >= least
  return (layer) => isLarge && /\.(transformer_blocks\.|proj_in$|proj_out$)/.test(layer)
}

/** Larger changes are cheaper to work into the weights than to hand over. */
const LARGEST = 512 * 2 ** 20

/** More tokens than any picture has. */
const ALL_TOKENS = 2 ** 30

/** Changes that go into slots. */
export interface LowRankChanges {
  /** By layer, each with at least one. */
  readonly layers: ReadonlyMap<string, readonly Factored[]>
  /** What their inputs occupy. */
  readonly bytes: number
}

/** `changes` as those of slots, or undefined when one of them is none. */
export function lowRankChanges(changes: WeightChanges, hasSlot: HasSlot): LowRankChanges | undefined {
  const layers = new Map<string, readonly Factored[]>()
  let bytes = 0
  for (const [name, each] of changes) {
    const layer = name.replace(/\.weight$/, '')
    if (layer === name || !hasSlot(layer)) return undefined
    const parts = each.flatMap((change) => factored(change) ?? [])
    if (parts.length < each.length) return undefined
    for (const { out, inner, rank } of parts) bytes += 4 * rank * (out + inner)
    layers.set(layer, parts)
  }
  return bytes <= LARGEST ? { layers, bytes } : undefined
}

/** Reads the inputs of the slots: the ranks of several changes to a layer stand behind one another. */
export function slotTensors({ layers }: LowRankChanges): Promise<SharedTensors> {
  return withTensorReader(async (read) => {
    const tensors: Record<string, Tensor> = {}
    for (const [layer, parts] of layers) {
      const names = slotInputs(layer)
      const ranks = parts.reduce((sum, { rank }) => sum + rank, 0)
      const { out, inner } = parts[0]!
      const [down, up] = [zeros([ranks, inner]), zeros([out, ranks])]
      let from = 0
      for (const part of parts) {
        const { rank } = part
        await part.readDown(read, down.data.subarray(from * inner, (from + rank) * inner))
        const column = rank === ranks ? up.data : new Float32Array(out * rank)
        await part.readUp(read, column)
        if (rank < ranks)
          for (let row = 0; row < out; row++)
            up.data.set(column.subarray(row * rank, (row + 1) * rank), row * ranks + from)
        from += rank
      }
      tensors[names.down] = down
      tensors[names.up] = up
      tensors[names.reach] = tensor([1], Float32Array.of(ALL_TOKENS))
    }
    return tensors
  })
}
