import type { Wire } from '../onnx/graph-builder.ts'
import { arithmeticOf } from './graph-arithmetic.ts'
import type { Retiled } from './spatial-transformer.ts'
import type { UnetAlteration } from './unet.ts'

export interface HyperTileOptions {
  /** Pixels of a tile's side; at least 32 as far as it counts. */
  readonly tileSize: number
  /** How often the picture may have been halved where self-attention is still tiled. */
  readonly maxDepth: number
  /** Whether tiles stay as large in pixels where the picture has been halved. */
  readonly scaleDepth: boolean
}

/** Pixels a latent cell. */
const CELL = 8

/**
 * HyperTile (tfernd, 2023): the pixels that ask in self-attention are laid out in tiles, each of which sees one run of
 * consecutive pixels, as many as it has itself. The number of tiles along a side is the side divided by its smallest
 * divisor that is at least a tile.
 */
export const hyperTile =
  ({ tileSize, maxDepth, scaleDepth }: HyperTileOptions): UnetAlteration =>
  ({ graph }, x) => {
    const { op } = graph
    const { ints, add, subtract, multiply, divide, cast, sizes, joined, reshape, range } = arithmeticOf(graph)
    const [height, width] = [sizes(x, 2, 3), sizes(x, 3, 4)]
    const cells = multiply(height, width)
    const least = Math.floor(Math.max(32, tileSize) / CELL)
    const depths = Array.from({ length: maxDepth + 1 }, (_, depth) => depth)
    const total = (terms: readonly Wire[]) => terms.reduce((sum, term) => add(sum, term))

    /** The number of tiles along a side: whole numbers from `smallest` up to the side are tried. */
    const tilesAlong = (side: Wire, smallest: Wire): Wire => {
      const from = op('Min', [smallest, side])
      const candidates = add(range(add(subtract(side, from), ints(1))), from)
      const divides = op('Equal', [op('Mod', [side, candidates]), ints(0)])
      const divisor = op('ReduceMin', [op('Where', [divides, candidates, side])], { attributes: { axes: [0] } })
      return divide(side, divisor)
    }

    return {
      retiling(tokens): Retiled {
        const count = sizes(tokens, 1, 2)
        const here = depths.map((depth) => cast(op('Equal', [multiply(count, ints(4 ** depth)), cells]), 'int64'))
        const elsewhere = subtract(ints(1), total(here))
        const chosen = (values: readonly Wire[], otherwise: Wire) =>
          add(total(values.map((value, i) => multiply(here[i]!, value))), multiply(elsewhere, otherwise))
        // Lines are counted along the width and columns along the height: of pictures that are not square the
        // reference's tiles are no rectangles, and so are these.
        const lines = chosen(
          depths.map((depth) => divide(width, ints(2 ** depth))),
          count,
        )
        const columns = chosen(
          depths.map((depth) => divide(height, ints(2 ** depth))),
          ints(1),
        )
        const smallest = chosen(
          depths.map((depth) => ints(least * (scaleDepth ? 2 ** depth : 1))),
          count,
        )
        const [down, across] = [tilesAlong(lines, smallest), tilesAlong(columns, smallest)]
        const tile = [divide(lines, down), divide(columns, across)] as const
        const rows = sizes(tokens, 0, 1)
        const channels = sizes(tokens, 2, 3)
        const swapped = { attributes: { perm: [0, 1, 3, 2, 4, 5] } }
        const cut = op('Transpose', [reshape(tokens, joined(rows, down, tile[0], across, tile[1], channels))], swapped)
        return {
          tokens: reshape(cut, joined(ints(-1), multiply(...tile), channels)),
          join(attended) {
            const tiles = reshape(attended, joined(rows, down, across, ...tile, channels))
            return reshape(op('Transpose', [tiles], swapped), joined(rows, count, channels))
          },
        }
      },
    }
  }
