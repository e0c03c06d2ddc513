import { createSplitQueue, type Split } from './split-queue.ts'

/** A colour and how many pixels have it. */
interface Swatch {
  /** Red, green and blue, in steps of `2 ** shift`. */
  readonly channels: readonly [number, number, number]
  readonly count: number
}

/** Colours that lie together in a box; `pixels` have one of them. */
interface Box {
  readonly swatches: readonly Swatch[]
  readonly pixels: number
}

/** More colours than this are told apart in coarser steps. */
const MAX_COLOURS = 65_536

/** Which side of a box counts as its longest: spread times how bright the channel looks. */
const WEIGHTS = [77, 150, 29] as const

/**
 * A palette of at most `size` colours for 8-bit `pixels` (red, green, blue one behind the other) by median cut (Heckbert
 * 1982) in Pillow's variant: the box with the most pixels is split across its weighted longest side behind the colour
 * that reaches half of them, and each box becomes the mean of its pixels. Colours are `0xRRGGBB`, in Pillow's order.
 */
export function medianCutPalette(pixels: Uint8Array, size: number): readonly number[] {
  const { shift, counts } = countColours(pixels)
  const swatches = [...counts].map(([key, count]): Swatch => ({ channels: channelsOf(key), count }))
  const boxes = leavesOf(cut({ swatches, pixels: pixels.length / 3 }, size))
  const boxOf = new Map<number, number>()
  for (const [i, box] of boxes.entries()) for (const { channels } of box.swatches) boxOf.set(keyOf(...channels), i)
  const sums = new Float64Array(boxes.length * 3)
  const members = new Float64Array(boxes.length)
  for (let at = 0; at < pixels.length; at += 3) {
    const [red, green, blue] = [pixels[at]!, pixels[at + 1]!, pixels[at + 2]!]
    const box = boxOf.get(keyOf(red >> shift, green >> shift, blue >> shift))!
    sums[box * 3]! += red
    sums[box * 3 + 1]! += green
    sums[box * 3 + 2]! += blue
    members[box]!++
  }
  const mean = (box: number, channel: number) => Math.trunc(0.5 + sums[box * 3 + channel]! / members[box]!)
  return boxes.map((_, box) => keyOf(mean(box, 0), mean(box, 1), mean(box, 2)))
}

const keyOf = (red: number, green: number, blue: number): number => (red << 16) | (green << 8) | blue
const channelsOf = (key: number) => [key >> 16, (key >> 8) & 0xff, key & 0xff] as const

/** How often each colour occurs, in the finest steps that give no more than can be handled. */
function countColours(pixels: Uint8Array): { shift: number; counts: ReadonlyMap<number, number> } {
  for (let shift = 0; ; shift++) {
    const counts = new Map<number, number>()
    for (let at = 0; at < pixels.length && counts.size <= MAX_COLOURS; at += 3) {
      const key = keyOf(pixels[at]! >> shift, pixels[at + 1]! >> shift, pixels[at + 2]! >> shift)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    if (counts.size <= MAX_COLOURS) return { shift, counts }
  }
}

/** A tree of boxes: a leaf is a box, anything else was split in two. */
type Tree = Split<Box>

function cut(root: Box, size: number): Tree {
  const tree: Tree = { box: root, parts: undefined }
  const queue = createSplitQueue<Box>(({ pixels }) => pixels)
  queue.add(tree)
  for (let boxes = 1; boxes < size; boxes++) {
    let next = queue.take()
    while (next && next.box.swatches.length === 1) next = queue.take() // of one colour: stays as it is
    if (!next) break
    const [low, high] = halves(next.box)
    next.parts = [
      { box: low, parts: undefined },
      { box: high, parts: undefined },
    ]
    for (const part of next.parts) queue.add(part)
  }
  return tree
}

function leavesOf({ box, parts }: Tree): readonly Box[] {
  return parts ? parts.flatMap(leavesOf) : [box]
}

/** The brighter and the darker half of a box along its longest side; colours that agree there stay together. */
function halves({ swatches, pixels }: Box): readonly [Box, Box] {
  const spread = WEIGHTS.map((weight, axis) => {
    const values = swatches.map(({ channels }) => channels[axis]!)
    return weight * (values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b)))
  })
  const axis = spread.indexOf(Math.max(...spread))
  const perValue = new Float64Array(256)
  for (const { channels, count } of swatches) perValue[channels[axis]!]! += count
  const present = [...perValue.keys()].filter((value) => perValue[value]! > 0).reverse()
  let reached = 0
  let last = present.findIndex((value) => {
    reached += perValue[value]!
    return reached * 2 > pixels
  })
  if (last === present.length - 1) last-- // a box never keeps everything
  const border = present[last]!
  const part = (keep: (value: number) => boolean): Box => {
    const kept = swatches.filter(({ channels }) => keep(channels[axis]!))
    return { swatches: kept, pixels: kept.reduce((sum, { count }) => sum + count, 0) }
  }
  return [part((value) => value >= border), part((value) => value < border)]
}
