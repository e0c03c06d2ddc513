import { link, listOf, widget } from '../graph/node.ts'
import { int } from '../graph/widget.ts'
import type { Latent } from '../model/ports.ts'
import { repeatRows, stackRows, takeRows } from '../tensor/rows.ts'
import { filled } from '../tensor/tensor.ts'
import { defineNode, LATENT } from './support/define.ts'
import { CELL, requireEqual } from './support/latents.ts'

export default defineNode({
  type: 'RebatchLatents',
  module: 'comfy_extras.nodes_rebatch',
  category: 'latent/batch',
  title: 'Regroup Latents',
  description: 'Takes the latents of a list apart and makes batches of another size of them; each keeps its noise.',
  inputs: { latents: link(LATENT), batch_size: widget(int({ default: 1, min: 1, max: 4096 })) },
  outputs: [listOf(LATENT)],
  inputIsList: true,
  run({ latents, batch_size: [size = 1] }) {
    const rows = rowsOfAll(latents)
    const groups: (readonly Latent[])[] = []
    for (let from = 0; from < rows.length; ) {
      const shape = sizeOf(rows[from]!)
      const end = rows.findIndex((row, i) => i > from && (i === from + size || sizeOf(row) !== shape))
      groups.push(rows.slice(from, end === -1 ? rows.length : end))
      from = end === -1 ? rows.length : end
    }
    return [groups.map(batchOf)]
  },
})

const sizeOf = ({ samples }: Latent): string => samples.dims.slice(2).join('×')

/** Every row of every batch as latents of its own that say which noise is theirs and, if any has a mask, their mask. */
function rowsOfAll(latents: readonly Latent[]): readonly Latent[] {
  const masked = latents.some(({ noiseMask }) => noiseMask)
  let before = 0
  return latents.flatMap(({ samples, noiseMask, batchIndex }) => {
    const [count = 0, , height = 0, width = 0] = samples.dims
    const offset = before
    before += count
    const mask = noiseMask ?? filled([1, 1, height * CELL, width * CELL], 1)
    const masks = masked ? repeatRows(mask, count) : undefined
    return Array.from({ length: count }, (_, row) => ({
      samples: takeRows(samples, row, row + 1),
      batchIndex: [batchIndex?.[row] ?? offset + row],
      ...(masks && { noiseMask: takeRows(masks, row, row + 1) }),
    }))
  })
}

/** Rows of one size as one batch; a mask that hides nothing is left out. */
function batchOf(rows: readonly Latent[]): Latent {
  for (const { samples, noiseMask } of rows) {
    requireEqual('channels', rows[0]!.samples.dims[1], samples.dims[1])
    requireEqual('noise masks', rows[0]!.noiseMask?.dims.join('×'), noiseMask?.dims.join('×'))
  }
  const masks = rows.flatMap(({ noiseMask }) => (noiseMask ? [noiseMask] : []))
  const hides = masks.some(({ data }) => data.some((value) => value !== 1))
  return {
    samples: stackRows(
      rows.map(({ samples }) => samples),
      rows.length,
    ),
    batchIndex: rows.flatMap(({ batchIndex = [] }) => batchIndex),
    ...(hides && { noiseMask: stackRows(masks, rows.length) }),
  }
}
