import { countOf, type WeightView } from '../weights/weight-view.ts'

/** How many channels each of a UNet's input blocks gives, in their order. */
export function inputChannels(view: WeightView): readonly number[] {
  return Array.from({ length: countOf(view, 'input_blocks.') }, (_, i) => {
    const key = `input_blocks.${i}.0`
    const last = [`${key}.out_layers.3.weight`, `${key}.op.weight`].find((name) => view.has(name))
    return view.get(last ?? `${key}.weight`).dims[0]!
  })
}
