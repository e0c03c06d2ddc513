import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { diffusersUnet, diffusersVae } from './diffusers-layout.ts'
import { drawn } from './lora-files.ts'
import { autoencoderShapes, type Shapes, type UnetPlan, unetShapes } from './network-shapes.ts'
import { type Kind, plans, randomCheckpoint, randomWeights, type Weights } from './random-checkpoints.ts'
import { referenceNetworks } from './reference-networks.ts'
import { writeSafetensors } from './safetensors.ts'
import { type TinyKind, tinyCheckpoint, tinyModels, tinyWeights } from './tiny-checkpoints.ts'

/** The layers that the LoRAs change, as kohya's files name them; those for SDXL fit its second text encoder alone. */
const loraLayers: Readonly<Record<'sd1' | 'sdxl', Shapes>> = {
  sd1: {
    lora_unet_input_blocks_1_1_transformer_blocks_0_attn2_to_k: [32, 32],
    lora_unet_middle_block_1_transformer_blocks_0_attn2_to_v: [64, 32],
    lora_unet_output_blocks_3_0_in_layers_2: [32, 64, 3, 3],
    lora_te_text_model_encoder_layers_1_mlp_fc1: [128, 32],
  },
  sdxl: {
    lora_unet_middle_block_1_transformer_blocks_0_attn2_to_v: [64, 96],
    lora_te2_text_model_encoder_layers_1_mlp_fc1: [256, 64],
  },
}

/** A LoRA of rank 2, strong enough to be seen. */
function lora(name: string, layers: Shapes): Weights {
  const parts = Object.entries(layers).map(([layer, [out = 1, inner = 1, ...kernel]]) => {
    const [up, down] = [`${layer}.lora_up.weight`, `${layer}.lora_down.weight`]
    const made = drawn({ [name + up]: [out, 2, ...kernel.map(() => 1)], [name + down]: [2, inner, ...kernel] }, 2)
    return { [up]: made[name + up]!, [down]: made[name + down]! }
  })
  return Object.assign({}, ...parts)
}

const convolution = (key: string, to: number, from: number, side: number): Shapes => ({
  [`${key}.weight`]: [to, from, side, side],
  [`${key}.bias`]: [to],
})

/** A control network for UNets of `plan`, under LDM names. */
function controlShapes(plan: UnetPlan): Shapes {
  const unet = Object.fromEntries(
    Object.entries(unetShapes(plan)).filter(([name]) => !/^(output_blocks|out)\./.test(name)),
  )
  const widths = Object.entries(unet).flatMap(([name, [width = 0]]): (readonly [string, number])[] => {
    const [, block] = /^input_blocks\.(\d+)\.0(?:\.op|\.out_layers\.3)?\.bias$/.exec(name) ?? []
    return block === undefined ? [] : [[block, width]]
  })
  const hint = [3, 16, 16, 32, 32, 96, 96, 256, plan.channels]
  const middle = unet['middle_block.0.out_layers.3.bias']![0]!
  return Object.assign(
    unet,
    ...widths.map(([block, width]) => convolution(`zero_convs.${block}.0`, width, width, 1)),
    ...hint.slice(1).map((to, i) => convolution(`input_hint_block.${2 * i}`, to, hint[i]!, 3)),
    convolution('middle_block_out.0', middle, middle, 1),
  )
}

/** A full T2I adapter with levels as wide as a UNet's. */
function adapterShapes(widths: readonly number[]): Shapes {
  const blocks = widths.flatMap((width, level) => {
    const [first, second, from] = [2 * level, 2 * level + 1, widths[level - 1] ?? width]
    return [
      from === width ? {} : convolution(`body.${first}.in_conv`, width, from, 1),
      ...[first, second].flatMap((block) => [
        convolution(`body.${block}.block1`, width, width, 3),
        convolution(`body.${block}.block2`, width, width, 1),
      ]),
    ]
  })
  return Object.assign(convolution('conv_in', widths[0]!, 3 * 64, 3), ...blocks)
}

const tiny = (kind: TinyKind) => () => tinyCheckpoint(kind, tinyWeights(kind))
const full = (kind: Kind) => () => randomCheckpoint(kind)
const sd1 = () => tinyWeights('sd1')

/** Every file that can be asked for, without its ending; what is small stays small by being made when it is asked for. */
const files: Readonly<Record<string, () => Weights>> = {
  'checkpoints/sd1': tiny('sd1'),
  'checkpoints/sdxl': tiny('sdxl'),
  'checkpoints/sd-1.5': full('SD 1.5'),
  'checkpoints/sd-2.1': full('SD 2.1'),
  'checkpoints/sdxl-base': full('SDXL base'),
  'checkpoints/sdxl-refiner': full('SDXL refiner'),
  'checkpoints/inpainting': full('SD 1.5 inpainting'),
  'checkpoints/pix2pix': full('InstructPix2Pix'),
  'diffusion_models/sd1': () => sd1().unet,
  'vae/sd1': () => sd1().vae,
  'vae/other': () => drawn(autoencoderShapes(32), 1.2),
  'text_encoders/sd1': () => sd1().text,
  'text_encoders/sdxl-l': () => tinyWeights('sdxl').text,
  'text_encoders/sdxl-g': () => tinyWeights('sdxl').text2!,
  'diffusers/sd1/unet/diffusion_pytorch_model': () => diffusersUnet(sd1().unet, tinyModels.sd1.unet.resBlocks),
  'diffusers/sd1/vae/diffusion_pytorch_model': () => diffusersVae(sd1().vae),
  'diffusers/sd1/text_encoder/model': () => sd1().text,
  'loras/first': () => lora('first', loraLayers.sd1),
  'loras/second': () => lora('second', loraLayers.sd1),
  'loras/sdxl': () => lora('sdxl', loraLayers.sdxl),
  'embeddings/mine': () => drawn({ emb_params: [2, 32] }),
  'controlnet/sd1': () => randomWeights(controlShapes(tinyModels.sd1.unet)),
  'controlnet/sdxl': () => randomWeights(controlShapes(tinyModels.sdxl.unet)),
  'controlnet/adapter': () => randomWeights(adapterShapes(plans['SD 1.5'].unet.widths.map((times) => 32 * times))),
  'upscale_models/x2': () => randomWeights(referenceNetworks.upscalers['real x2']!.keys),
  'upscale_models/x4': () => randomWeights(referenceNetworks.upscalers.compact!.keys),
}

/** Fills `root` with a user's model folders: the bundled checkpoint and those small random files that match `wanted`. */
export async function writeModels(root: string, wanted = /^/): Promise<void> {
  for (const [path, weights] of Object.entries(files)) {
    if (!wanted.test(path)) continue
    const file = join(root, `${path}.safetensors`)
    await mkdir(dirname(file), { recursive: true })
    await writeSafetensors(file, weights())
  }
  const bundled = 'checkpoints/easel-demo.safetensors'
  await symlink(resolve('models', bundled), join(root, bundled))
  const index = join(root, 'diffusers/sd1/model_index.json')
  await mkdir(dirname(index), { recursive: true })
  await writeFile(index, '{"_class_name": "StableDiffusionPipeline"}')
}
