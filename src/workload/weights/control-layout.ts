import { unetModules } from './diffusers-unet.ts'
import { underModules } from './module-names.ts'
import type { SafetensorsFile } from './safetensors.ts'
import { countOf, renamed, viewOf, type WeightView } from './weight-view.ts'

/** The control network of `file` under LDM's names, from that layout or from diffusers'; undefined for other files. */
export function controlNetView(file: SafetensorsFile): WeightView | undefined {
  const ldm = ['control_model.', '']
    .map((prefix) => viewOf(file, prefix))
    .find((view) => view.has('zero_convs.0.0.weight'))
  if (ldm) return ldm
  const view = viewOf(file, '')
  if (!view.has('controlnet_cond_embedding.conv_in.weight')) return undefined
  return underModules(
    renamed(view, new Map(view.names.map((name) => [asWeightOfModule(name), name]))),
    controlModules(view),
  )
}

/** Union networks have weights without a module of their own. */
const asWeightOfModule = (name: string): string =>
  name === 'task_embedding' ? `${name}.weight` : name.replace(/\.in_proj_(weight|bias)$/, '.in_proj.$1')

/** Where the modules of diffusers' control networks stand in LDM's layout: diffusers' name → LDM's. */
function controlModules(view: WeightView): ReadonlyMap<string, string> {
  const modules = new Map(unetModules(view))
  const hint = 'controlnet_cond_embedding'
  const between = countOf(view, `${hint}.blocks.`)
  // In LDM's list an activation stands between every two layers.
  const layers = [
    `${hint}.conv_in`,
    ...Array.from({ length: between }, (_, i) => `${hint}.blocks.${i}`),
    `${hint}.conv_out`,
  ]
  for (const [i, layer] of layers.entries()) modules.set(layer, `input_hint_block.${2 * i}`)
  for (let i = 0; i < countOf(view, 'controlnet_down_blocks.'); i++)
    modules.set(`controlnet_down_blocks.${i}`, `zero_convs.${i}.0`)
  modules.set('controlnet_mid_block', 'middle_block_out.0')
  for (const module of ['task_embedding', 'transformer_layes', 'spatial_ch_projs', 'control_add_embedding'])
    modules.set(module, module)
  return modules
}

/** The T2I adapter of `file` under its authors' names, from their layout or from diffusers'; undefined for other files. */
export function t2iAdapterView(file: SafetensorsFile): WeightView | undefined {
  const inner = viewOf(file, 'adapter.')
  const view = inner.names.length > 0 ? inner : viewOf(file, '')
  const names = new Map(view.names.map((name) => [authorsName(view, name), name]))
  const isAdapter = ['body.0.block1.weight', 'body.0.body.0.block1.weight'].some((name) => names.has(name))
  return isAdapter ? renamed(view, names) : undefined
}

/**
 * diffusers keeps the residual blocks of a level together, and what precedes them beside them; its authors count them
 * through in the full adapter, two a level.
 */
function authorsName(view: WeightView, name: string): string {
  if (!view.has('body.0.resnets.0.block1.weight')) return name
  const light = view.has('body.0.in_conv.weight')
  const inner = (level: string, i: string) => (light ? `body.${level}.body.${i}.` : `body.${2 * +level + +i}.`)
  return name
    .replace(/^body\.(\d+)\.resnets\.(\d+)\./, (_, level: string, i: string) => inner(level, i))
    .replace(/^body\.(\d+)\.in_conv\./, (found, level: string) => (light ? found : `body.${2 * +level}.in_conv.`))
}
