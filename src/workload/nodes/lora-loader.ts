import { link } from '../graph/node.ts'
import { type Catalogue, CLIP, defineNode, MODEL } from './support/define.ts'
import { loraName, loraStrength, withPatch } from './support/lora.ts'

export default (catalogue: Catalogue) =>
  defineNode({
    type: 'LoraLoader',
    category: 'loaders',
    title: 'LoRA',
    description: 'Changes a diffusion model and its text encoder by what a LoRA file was trained to change.',
    inputs: {
      model: link(MODEL),
      clip: link(CLIP),
      lora_name: loraName(catalogue),
      strength_model: loraStrength(),
      strength_clip: loraStrength(),
    },
    outputs: [MODEL, CLIP],
    fingerprint: ({ lora_name }, { models }) => models.version('loras', String(lora_name)),
    async run({ model, clip, lora_name, strength_model, strength_clip }, { models }) {
      if (strength_model === 0 && strength_clip === 0) return [model, clip]
      const patch = await models.lora(lora_name)
      return [
        withPatch(model, patch, strength_model),
        strength_clip === 0 ? clip : clip?.patched([{ patch, strength: strength_clip }]),
      ]
    },
  })
