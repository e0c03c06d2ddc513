import { underModules } from './module-names.ts'
import { countOf, type WeightView } from './weight-view.ts'

/** The layers of a residual block: diffusers' name → LDM's. */
const residualLayers = [
  ['norm1', 'in_layers.0'],
  ['conv1', 'in_layers.2'],
  ['time_emb_proj', 'emb_layers.1'],
  ['norm2', 'out_layers.0'],
  ['conv2', 'out_layers.3'],
  ['conv_shortcut', 'skip_connection'],
] as const

const fixed = [
  ['time_embedding.linear_1', 'time_embed.0'],
  ['time_embedding.linear_2', 'time_embed.2'],
  ...['add_embedding', 'class_embedding'].flatMap((name) => [
    [`${name}.linear_1`, 'label_emb.0.0'] as const,
    [`${name}.linear_2`, 'label_emb.0.2'] as const,
  ]),
  ['conv_in', 'input_blocks.0.0'],
  ['conv_norm_out', 'out.0'],
  ['conv_out', 'out.2'],
] as const

/**
 * The UNet of `view` under LDM's names when it is stored under those of diffusers; as it is otherwise. Names that no
 * block has are left out.
 */
export function ldmUnet(view: WeightView): WeightView {
  return view.has('conv_in.weight') && view.has('down_blocks.0.resnets.0.conv1.weight')
    ? underModules(view, unetModules(view))
    : view
}

/**
 * Where the modules of a UNet, or of the half of one that control networks are, stand in LDM's layout: diffusers'
 * name → LDM's. Blocks are counted as they are found, for networks differ in how many they have.
 */
export function unetModules(view: WeightView): ReadonlyMap<string, string> {
  const modules = new Map<string, string>(fixed)
  const residual = (from: string, to: string) => {
    for (const [theirs, ours] of residualLayers) modules.set(`${from}.${theirs}`, `${to}.${ours}`)
  }
  const present = (module: string) => view.names.some((name) => name.startsWith(`${module}.`))

  let input = 1 // the first is `conv_in`
  for (let level = 0; level < countOf(view, 'down_blocks.'); level++) {
    const key = `down_blocks.${level}`
    for (let i = 0; i < countOf(view, `${key}.resnets.`); i++, input++) {
      residual(`${key}.resnets.${i}`, `input_blocks.${input}.0`)
      modules.set(`${key}.attentions.${i}`, `input_blocks.${input}.1`)
    }
    if (present(`${key}.downsamplers.0`)) modules.set(`${key}.downsamplers.0.conv`, `input_blocks.${input++}.0.op`)
  }

  let middle = 0
  for (let i = 0; i < countOf(view, 'mid_block.resnets.'); i++) {
    residual(`mid_block.resnets.${i}`, `middle_block.${middle++}`)
    if (present(`mid_block.attentions.${i}`)) modules.set(`mid_block.attentions.${i}`, `middle_block.${middle++}`)
  }

  let output = 0
  for (let level = 0; level < countOf(view, 'up_blocks.'); level++) {
    const key = `up_blocks.${level}`
    for (let i = 0; i < countOf(view, `${key}.resnets.`); i++, output++) {
      residual(`${key}.resnets.${i}`, `output_blocks.${output}.0`)
      modules.set(`${key}.attentions.${i}`, `output_blocks.${output}.1`)
    }
    // The last block of a level enlarges behind its residual block and, if it has one, its transformer.
    const place = present(`${key}.attentions.${countOf(view, `${key}.resnets.`) - 1}`) ? 2 : 1
    modules.set(`${key}.upsamplers.0.conv`, `output_blocks.${output - 1}.${place}.conv`)
  }
  return modules
}
