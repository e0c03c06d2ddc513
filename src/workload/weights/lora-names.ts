import { countOf, type WeightView } from './weight-view.ts'

/** The layers of a network by every name that files of the LoRA family have for them. */
export type LayerNames = ReadonlyMap<string, string>

/** The layers of a UNet, told by its weights under LDM names. */
export function unetLayerNames(view: WeightView): LayerNames {
  const layers = modulesOf(view)
  const names = new Map<string, string>()
  const name = (given: string, layer: string) => {
    if (!names.has(given)) names.set(given, layer)
  }
  for (const layer of layers) {
    name(`lora_unet_${underscored(layer)}`, layer)
    name(`diffusion_model.${layer}`, layer)
  }
  const diffusers = diffusersPlaces(view)
  for (const layer of layers) {
    const theirs = diffusersName(layer, diffusers)
    if (theirs === undefined) continue
    name(`lora_unet_${underscored(theirs)}`, layer)
    name(`lycoris_${underscored(theirs)}`, layer)
    for (const prefix of ['', 'unet.']) {
      // PEFT's names, and those of the attention processors that diffusers had before it.
      name(`${prefix}${theirs}`, layer)
      name(`${prefix}${theirs.replace('.to_', '.processor.to_').replace(/\.to_out\.0$/, '.to_out')}`, layer)
    }
  }
  return names
}

/** What trainers call each text encoder: kohya's names with underscores, diffusers' with dots. */
const textPrefixes = {
  l: { underscored: ['lora_te', 'lora_te1'], dotted: ['text_encoder', 'text_encoders.clip_l.transformer'] },
  h: { underscored: ['lora_te', 'lora_te1'], dotted: ['text_encoder', 'text_encoders.clip_h.transformer'] },
  // The only encoder of SDXL's refiner, the second of SDXL.
  g: {
    underscored: ['lora_te2', 'lora_te'],
    dotted: ['text_encoder_2', 'text_encoder', 'text_encoders.clip_g.transformer'],
  },
} as const

/** The layers of a CLIP text transformer under the Hugging Face names behind `text_model.`. */
export function textLayerNames(view: WeightView, size: 'l' | 'g' | 'h'): LayerNames {
  const names = new Map<string, string>()
  const { underscored: ofKohya, dotted } = textPrefixes[size]
  for (const layer of modulesOf(view)) {
    const whole = layer === 'text_projection' ? layer : `text_model.${layer}`
    for (const prefix of ofKohya) names.set(`${prefix}_${underscored(whole)}`, layer)
    for (const prefix of dotted) names.set(`${prefix}.${whole}`, layer)
  }
  return names
}

/** Whether a file's name for a layer is one of a text encoder. */
export const isTextLayer = (name: string): boolean => /^(lora_te\d?_|lora_prior_te_|text_encoders?(_\d)?\.)/.test(name)

const modulesOf = (view: WeightView): readonly string[] =>
  view.names.flatMap((name) => (name.endsWith('.weight') ? name.slice(0, -'.weight'.length) : []))

const underscored = (name: string): string => name.replaceAll('.', '_')

/** The layers of a residual block: LDM's name → diffusers'. */
const residualLayers: Readonly<Record<string, string>> = {
  'in_layers.0': 'norm1',
  'in_layers.2': 'conv1',
  'emb_layers.1': 'time_emb_proj',
  'out_layers.0': 'norm2',
  'out_layers.3': 'conv2',
  skip_connection: 'conv_shortcut',
}

const outside: Readonly<Record<string, string>> = {
  'time_embed.0': 'time_embedding.linear_1',
  'time_embed.2': 'time_embedding.linear_2',
  'label_emb.0.0': 'add_embedding.linear_1',
  'label_emb.0.2': 'add_embedding.linear_2',
  'input_blocks.0.0': 'conv_in',
  'out.0': 'conv_norm_out',
  'out.2': 'conv_out',
}

const PLACE = /^((?:input|output)_blocks\.\d+\.\d+|middle_block\.\d+)\.(.+)$/

/** What diffusers calls `layer`, or undefined. */
function diffusersName(layer: string, places: ReadonlyMap<string, string>): string | undefined {
  const alone = outside[layer]
  if (alone) return alone
  const [, place = '', inner = ''] = PLACE.exec(layer) ?? []
  const there = places.get(place)
  if (there === undefined) return undefined
  const last = /^(op|conv)$/.test(inner) ? 'conv' : (residualLayers[inner] ?? inner)
  return `${there}.${last}`
}

/** Where diffusers has the parts of LDM's blocks, counted as they are found. */
function diffusersPlaces(view: WeightView): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  const blocks = (side: 'input' | 'output', theirs: 'down' | 'up', first: number) => {
    let level = 0
    let place = 0
    for (let i = first; i < countOf(view, `${side}_blocks.`); i++) {
      const block = `${side}_blocks.${i}`
      let ends = false
      for (let part = 0; part < countOf(view, `${block}.`); part++) {
        const key = `${block}.${part}`
        const at = `${theirs}_blocks.${level}`
        if (view.has(`${key}.in_layers.0.weight`)) places.set(key, `${at}.resnets.${place}`)
        else if (view.has(`${key}.proj_in.weight`)) places.set(key, `${at}.attentions.${place}`)
        else {
          places.set(key, `${at}.${theirs}samplers.0`)
          ends = true
        }
      }
      place = ends ? 0 : place + 1
      level += Number(ends)
    }
  }
  blocks('input', 'down', 1)
  blocks('output', 'up', 0)
  let [resnets, attentions] = [0, 0]
  for (let part = 0; part < countOf(view, 'middle_block.'); part++) {
    const key = `middle_block.${part}`
    const isTransformer = view.has(`${key}.proj_in.weight`)
    places.set(key, `mid_block.${isTransformer ? `attentions.${attentions++}` : `resnets.${resnets++}`}`)
  }
  return places
}
