import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkloadError } from '../../base/errors.ts'
import { ifThere } from '../../base/if-there.ts'
import type { Checkpoint } from '../../model/ports.ts'
import { autoencoderView, clipTextView, networkView } from '../../weights/checkpoint-layout.ts'
import { readAutoencoderConfig, readPipelineClass, readSchedulerConfig } from '../../weights/diffusers-config.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { openWeightFolder } from '../../weights/weight-folder.ts'
import type { CheckpointWeights, Family, FamilyServices, TextWeights } from './family.ts'
import { trainingIn } from './folder-training.ts'
import { inFamily } from './in-family.ts'
import type { FolderModel } from './model-files.ts'
import { familyOf, unknownModel } from './open-checkpoint.ts'
import { openOnnxFolder } from './open-onnx-folder.ts'
import { textWeightsOf } from './text-weights.ts'

/**
 * A model in a folder of diffusers: each network in a sub-folder, as safetensors or as ONNX. What the configurations of
 * scheduler and autoencoder say counts more than what the weights look like. The tokenizer is CLIP's, whatever files
 * for it lie there. Rejects with `execution-failed` when a network is missing or no family knows it.
 */
export async function openDiffusersFolder(
  { path, version }: FolderModel,
  name: string,
  families: ReadonlyMap<string, Family>,
  services: FamilyServices,
): Promise<Checkpoint> {
  const key = `${path} ${version}`
  if (await ifThere(stat(join(path, 'unet', 'model.onnx')))) return openOnnxFolder({ path, key, name }, services)
  const file = await openWeightFolder(join(path, 'unet'))
  if (!file) throw await withoutNetwork(path, name)
  const weights = await weightsIn(path, key, file)
  const family = weights && familyOf(weights, families)
  if (!family) throw unknownModel(file, name, families)
  const checkpoint = await family.open(weights, inFamily(services, family.name))
  const configs = [await readSchedulerConfig(path), await readAutoencoderConfig(path, 'vae')] as const
  return { ...checkpoint, model: { ...checkpoint.model, ...trainingIn(...configs, checkpoint.model.latent) } }
}

async function weightsIn(path: string, key: string, file: SafetensorsFile): Promise<CheckpointWeights | undefined> {
  const network = networkView(file)
  if (!network) return undefined
  const [first, second, vae] = await Promise.all(
    ['text_encoder', 'text_encoder_2', 'vae'].map((part) => openWeightFolder(join(path, part))),
  )
  // The first is CLIP-L or OpenCLIP-H, as its weights tell; where there is a second, it is OpenCLIP-G.
  const text: TextWeights = { ...(first && textWeightsOf(first)), ...(second && { g: clipTextView(second, '') }) }
  return { key, network, text, autoencoder: vae && autoencoderView(vae), marks: new Map() }
}

/** The fault of a folder whose `unet` has nothing to open. */
async function withoutNetwork(path: string, name: string): Promise<WorkloadError> {
  const kind = await readPipelineClass(path)
  const found = (await ifThere(readdir(join(path, 'unet')))) ?? []
  const other = found.find((file) => /\.(bin|pt|ckpt|msgpack|h5)$/.test(file))
  return new WorkloadError(
    'execution-failed',
    `${name}${kind && ` (${kind})`} has no unet/*.safetensors and no unet/model.onnx` +
      (other ? `: unet/${other} is not read, convert it first` : ''),
  )
}
