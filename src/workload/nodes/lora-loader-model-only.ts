import { link } from '../graph/node.ts'
import { type Catalogue, defineNode, MODEL } from './support/define.ts'
import { loraName, loraStrength, withPatch } from './support/lora.ts'

export default (catalogue: Catalogue) =>
  defineNode({
    type: 'LoraLoaderModelOnly',
    category: 'loaders',
    title: 'LoRA, Model Only',
    description:
      'Changes a diffusion model by what a LoRA file was trained to change, and leaves the text encoder alone.',
    inputs: { model: link(MODEL), lora_name: loraName(catalogue), strength_model: loraStrength() },
    outputs: [MODEL],
    fingerprint: ({ lora_name }, { models }) => models.version('loras', String(lora_name)),
    async run({ model, lora_name, strength_model }, { models }) {
      if (strength_model === 0) return [model]
      return [withPatch(model, await models.lora(lora_name), strength_model)]
    },
  })
