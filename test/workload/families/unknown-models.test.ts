import { join } from 'node:path'
import { expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { loadFamilies } from '../../../src/workload/families/support/model-store.ts'
import { openCheckpoint } from '../../../src/workload/families/support/open-checkpoint.ts'
import { createFamilyServices } from '../../../src/workload/families/support/services.ts'
import { type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createModelFolders } from '../../../src/workload/weights/model-folders.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { emptyFolder } from '../../support/folder.ts'
import {
  autoencoderShapes,
  clipShapes,
  openClipShapes,
  type UnetPlan,
  unetShapes,
} from '../../support/network-shapes.ts'
import { plans } from '../../support/random-checkpoints.ts'
import { cpuRuntime } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

/** Tensors of these shapes, all noughts. */
const blank = (shapes: Readonly<Record<string, readonly number[]>>, prefix = ''): Readonly<Record<string, Tensor>> =>
  Object.fromEntries(Object.entries(shapes).map(([name, dims]) => [prefix + name, zeros(dims)]))
const unet = (plan: Partial<UnetPlan>, base: UnetPlan = plans['SD 2.1'].unet) =>
  blank(unetShapes({ ...base, ...plan }), 'model.diffusion_model.')
const named = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, zeros([1])]))
const thin = { width: 2, layers: 1 }

it.each([
  ['Flux', named('double_blocks.0.img_attn.norm.key_norm.scale', 'img_in.weight'), 'a network of the Flux kind'],
  [
    'Stable Diffusion 3',
    named('model.diffusion_model.joint_blocks.0.context_block.attn.qkv.weight'),
    'a Stable Diffusion 3 network (MMDiT)',
  ],
  [
    'Zero123',
    { ...unet({ inChannels: 8 }, plans['SD 1.5'].unet), ...named('cc_projection.weight') },
    'a Zero123 network',
  ],
  ['unCLIP', unet({ vector: 64 }), 'a UNet that takes a picture vector (unCLIP)'],
  ['the depth model', unet({ inChannels: 5 }), 'a UNet that takes a depth map (Stable Diffusion 2 depth)'],
  ['the upscaler', unet({ inChannels: 7 }), 'a UNet that enlarges pictures (SD x4 upscaler)'],
  [
    'a film model',
    {
      ...unet({ inChannels: 8, vector: 64 }),
      ...named('model.diffusion_model.input_blocks.1.1.time_stack.0.norm1.weight'),
    },
    'a UNet for films (Stable Video Diffusion)',
  ],
  ['another UNet', unet({ inChannels: 6 }), 'a UNet of 32 channels over 6 input channels, of 4 sizes'],
  ['a LoRA', named('lora_unet_mid_block_attentions_0_proj_in.lora_up.weight'), 'a LoRA'],
  ['a control network', named('control_model.zero_convs.0.0.weight'), 'a control network'],
  ['a text encoder', blank(clipShapes(thin)), 'a text encoder'],
  ['a text encoder in the other layout', blank(openClipShapes(thin)), 'a text encoder'],
  ['an autoencoder', blank(autoencoderShapes(32)), 'an autoencoder'],
  ['something', named('b', 'a'), '2 tensors, the first b, a'],
  ['nothing', {}, '0 tensors'],
] as const)('%s in place of a checkpoint is called what it is', async (_what, tensors, description) => {
  const file = await openSafetensors(await writeSafetensors(join(await emptyFolder(), 'x.safetensors'), tensors))
  const families = await loadFamilies()
  const services = createFamilyServices(await cpuRuntime(), createModelFolders('models'), silentLog)
  await expect(openCheckpoint(file, 'x.safetensors', families, services)).rejects.toMatchObject({
    code: 'execution-failed',
    message: `x.safetensors is of no model family known here (sd1, sd2, sdxl-refiner, sdxl): ${description}`,
  })
})
