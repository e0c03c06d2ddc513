import { discover } from '../../base/discover.ts'
import type { ModelStore } from '../../model/ports.ts'
import type { ModelFolders } from '../../weights/model-folders.ts'
import type { Family, FamilyServices } from './family.ts'
import { createModelFiles } from './model-files.ts'
import { openCheckpoint } from './open-checkpoint.ts'
import { openControlNet } from './open-control-net.ts'
import { openDiffusersFolder } from './open-diffusers.ts'
import { openDiffusionModel } from './open-diffusion-model.ts'
import { openLora } from './open-lora.ts'
import { openTextEncoder } from './open-text-encoder.ts'
import { openUpscaler } from './open-upscaler.ts'
import { openVae } from './open-vae.ts'

const asFamily = (exported: unknown): Family | undefined =>
  typeof exported === 'object' && exported !== null && 'open' in exported && 'matches' in exported
    ? (exported as Family) // the folder holds families; conformance tests open each
    : undefined

/** Every family in the folder above, by name. */
export function loadFamilies(): Promise<ReadonlyMap<string, Family>> {
  return discover(new URL('../', import.meta.url), asFamily, ({ name }) => name)
}

/** Opens models from `folders` with the family that recognises them. A file is opened again once it was replaced. */
export function createModelStore(
  folders: ModelFolders,
  families: ReadonlyMap<string, Family>,
  services: FamilyServices,
): ModelStore {
  const files = createModelFiles(folders)
  return {
    version: files.versionOf,
    checkpoint: files.kept('checkpoints', (file, name) => openCheckpoint(file, name, families, services)),
    diffusers: files.keptFolder('diffusers', (folder, name) => openDiffusersFolder(folder, name, families, services)),
    diffusionModel: files.kept('diffusion_models', (file, name) => openDiffusionModel(file, name, families, services)),
    textEncoder: (names, type) => openTextEncoder(names, type, files, services),
    vae: (name) => openVae(name, files, services),
    controlNet: files.kept('controlnet', (file, name) => openControlNet(file, name, services)),
    upscaler: files.kept('upscale_models', (file, name) => openUpscaler(file, name, services)),
    lora: files.kept('loras', (file, name) => openLora(file, name, services)),
  }
}
