import { stat } from 'node:fs/promises'
import { discover } from '../../base/discover.ts'
import { WorkloadError } from '../../base/errors.ts'
import type { Checkpoint, ModelStore, Vae } from '../../model/ports.ts'
import { autoencoderView, networkView } from '../../weights/checkpoint-layout.ts'
import type { ModelFolders } from '../../weights/model-folders.ts'
import { openSafetensors, type SafetensorsFile, versionOf } from '../../weights/safetensors.ts'
import type { Family, FamilyServices } from './family.ts'
import { createKlVae } from './kl-vae.ts'

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
  const checkpoints = new Map<string, { readonly version: string; readonly checkpoint: Checkpoint }>()

  const pathOf = async (folder: string, name: string): Promise<string> => {
    const path = await folders.find(folder, name)
    if (path) return path
    throw new WorkloadError('execution-failed', `Model in folder '${folder}' with filename '${name}' not found.`)
  }
  const open = async (folder: string, name: string): Promise<SafetensorsFile> => {
    const path = await pathOf(folder, name)
    if (/\.(safetensors|sft)$/i.test(path)) return openSafetensors(path)
    throw new WorkloadError('execution-failed', `${name} is not read: only .safetensors files are; convert it first`)
  }

  return {
    version: async (folder, name) => versionOf(await stat(await pathOf(folder, name))),
    async checkpoint(name): Promise<Checkpoint> {
      const file = await open('checkpoints', name)
      const known = checkpoints.get(file.path)
      if (known?.version === file.version) return known.checkpoint
      const family = [...families.values()].find((each) => each.matches(file))
      if (!family)
        throw new WorkloadError(
          'execution-failed',
          `${name} is of no model family known here (${[...families.keys()].join(', ')}): ${describe(file)}`,
        )
      const checkpoint = family.open(file, services)
      checkpoints.set(file.path, { version: file.version, checkpoint })
      return checkpoint
    },
    async vae(name): Promise<Vae> {
      const file = await open('vae', name)
      const view = autoencoderView(file)
      if (!view) throw new WorkloadError('execution-failed', `${name} has no autoencoder weights in the LDM layout`)
      return createKlVae(file, view, services)
    },
  }
}

/** What can be told of a file that nothing recognises. */
function describe(file: SafetensorsFile): string {
  const view = networkView(file)
  const input = view?.has('input_blocks.0.0.weight') && view.get('input_blocks.0.0.weight')
  if (input) return `a UNet of ${input.dims[0]} channels over ${input.dims[1]} latent channels`
  return `${file.tensors.size} tensors, the first ${[...file.tensors.keys()].slice(0, 3).join(', ')}`
}
