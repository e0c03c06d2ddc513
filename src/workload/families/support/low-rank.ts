import { slotInputs } from '../../architectures/slots.ts'
import type { SharedTensors } from '../../runtime/session.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import { readStored, type StoredTensor } from '../../weights/safetensors.ts'
import type { Delta, WeightChange } from '../../weights/weight-change.ts'

/** The layers of a UNet that low-rank changes may be handed to at each run: those of its transformers. */
export const hasSlot = (layer: string): boolean => /\.(transformer_blocks\.|proj_in$|proj_out$)/.test(layer)

/** Larger changes are cheaper to work into the weights than to hand over. */
const LARGEST = 512 * 2 ** 20

/** More tokens than any picture has. */
const ALL_TOKENS = 2 ** 30

type LowRank = Extract<Delta, { kind: 'lora' }> & { readonly scale: number }

/** Changes that go into slots. */
export interface LowRankChanges {
  /** By layer. */
  readonly layers: ReadonlyMap<string, readonly LowRank[]>
  /** What their inputs occupy. */
  readonly bytes: number
}

/** `changes` as those of slots, or undefined when one of them is none. */
export function lowRankChanges(changes: ReadonlyMap<string, readonly WeightChange[]>): LowRankChanges | undefined {
  const layers = new Map<string, readonly LowRank[]>()
  let bytes = 0
  for (const [name, each] of changes) {
    const layer = name.replace(/\.weight$/, '')
    if (layer === name || !hasSlot(layer)) return undefined
    const deltas = each.flatMap(({ delta, dora, scale, strength, kept }) =>
      delta?.kind === 'lora' && !delta.mid && !dora && kept === 1 ? [{ ...delta, scale: scale * strength }] : [],
    )
    if (deltas.length < each.length) return undefined
    for (const { up, down } of deltas) bytes += 4 * (sizeOf(up) + sizeOf(down))
    layers.set(layer, deltas)
  }
  return bytes <= LARGEST ? { layers, bytes } : undefined
}

const sizeOf = ({ dims }: StoredTensor) => dims.reduce((product, dim) => product * dim, 1)

/** Reads the inputs of the slots: the ranks of several changes to a layer stand behind one another. */
export async function slotTensors({ layers }: LowRankChanges): Promise<SharedTensors> {
  const read = await Promise.all(
    [...layers].map(async ([layer, deltas]) => {
      const names = slotInputs(layer)
      const parts = await Promise.all(
        deltas.map(async ({ up, down, scale }) => ({
          up: (await readStored(up, `${layer} up`)).data,
          down: (await readStored(down, `${layer} down`)).data,
          rank: down.dims[0]!,
          scale,
        })),
      )
      return [
        [names.down, joinedDown(parts)],
        [names.up, joinedUp(parts)],
        [names.reach, tensor([1], Float32Array.of(ALL_TOKENS))],
      ] as const
    }),
  )
  return Object.fromEntries(read.flat())
}

interface Part {
  readonly up: Float32Array
  readonly down: Float32Array
  readonly rank: number
  readonly scale: number
}

/** `[ranks, in]` */
function joinedDown(parts: readonly Part[]): Tensor {
  const ranks = parts.reduce((sum, { rank }) => sum + rank, 0)
  const [first] = parts as [Part, ...Part[]]
  const inner = first.down.length / first.rank
  if (parts.length === 1) return tensor([ranks, inner], first.down)
  const data = new Float32Array(ranks * inner)
  let row = 0
  for (const { down, rank } of parts) {
    data.set(down, row * inner)
    row += rank
  }
  return tensor([ranks, inner], data)
}

/** `[out, ranks]`, each part multiplied with its scale. */
function joinedUp(parts: readonly Part[]): Tensor {
  const ranks = parts.reduce((sum, { rank }) => sum + rank, 0)
  const [first] = parts as [Part, ...Part[]]
  const out = first.up.length / first.rank
  const data = new Float32Array(out * ranks)
  let column = 0
  for (const { up, rank, scale } of parts) {
    for (let row = 0; row < out; row++)
      for (let i = 0; i < rank; i++) data[row * ranks + column + i] = up[row * rank + i]! * scale
    column += rank
  }
  return tensor([out, ranks], data)
}
