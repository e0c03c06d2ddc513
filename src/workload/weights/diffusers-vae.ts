import { underModules } from './module-names.ts'
import { countOf, type WeightView } from './weight-view.ts'

/** The layers of the attention block: diffusers' names, the older ones behind the newer → LDM's. */
const attentionLayers = [
  ['group_norm', 'norm'],
  ['to_q', 'q'],
  ['query', 'q'],
  ['to_k', 'k'],
  ['key', 'k'],
  ['to_v', 'v'],
  ['value', 'v'],
  ['to_out.0', 'proj_out'],
  ['proj_attn', 'proj_out'],
] as const

/** LDM's projections of the attention block are 1×1 convolutions, those of diffusers linear layers. */
const asConvolution = (name: string, dims: readonly number[]): readonly number[] =>
  dims.length === 2 && /\.attn_1\.(q|k|v|proj_out)\.weight$/.test(name) ? [...dims, 1, 1] : dims

/** The KL autoencoder of `view` under LDM's names when it is stored under those of diffusers; as it is otherwise. */
export function ldmAutoencoder(view: WeightView): WeightView {
  return view.has('decoder.conv_in.weight') && view.has('decoder.up_blocks.0.resnets.0.conv1.weight')
    ? underModules(view, autoencoderModules(view), asConvolution)
    : view
}

/** Where the modules stand in LDM's layout: diffusers' name → LDM's. Diffusers counts the decoder's levels as they run. */
function autoencoderModules(view: WeightView): ReadonlyMap<string, string> {
  const modules = new Map<string, string>()
  for (const name of ['quant_conv', 'post_quant_conv']) modules.set(name, name)
  const residual = (from: string, to: string) => {
    modules.set(from, to)
    modules.set(`${from}.conv_shortcut`, `${to}.nin_shortcut`)
  }
  const level = (from: string, to: string) => {
    for (let i = 0; i < countOf(view, `${from}.resnets.`); i++) residual(`${from}.resnets.${i}`, `${to}.block.${i}`)
    modules.set(`${from}.downsamplers.0`, `${to}.downsample`)
    modules.set(`${from}.upsamplers.0`, `${to}.upsample`)
  }
  for (const half of ['encoder', 'decoder']) {
    for (const name of ['conv_in', 'conv_out']) modules.set(`${half}.${name}`, `${half}.${name}`)
    modules.set(`${half}.conv_norm_out`, `${half}.norm_out`)
    for (const i of [0, 1]) residual(`${half}.mid_block.resnets.${i}`, `${half}.mid.block_${i + 1}`)
    for (const [theirs, ours] of attentionLayers)
      modules.set(`${half}.mid_block.attentions.0.${theirs}`, `${half}.mid.attn_1.${ours}`)
  }
  for (let i = 0; i < countOf(view, 'encoder.down_blocks.'); i++) level(`encoder.down_blocks.${i}`, `encoder.down.${i}`)
  const last = countOf(view, 'decoder.up_blocks.') - 1
  for (let i = 0; i <= last; i++) level(`decoder.up_blocks.${i}`, `decoder.up.${last - i}`)
  return modules
}
