import { WorkloadError } from '../../base/errors.ts'
import type { Vae } from '../../model/ports.ts'
import { autoencoderView } from '../../weights/checkpoint-layout.ts'
import { keyOf } from './checkpoint-file.ts'
import type { FamilyServices } from './family.ts'
import { createKlVae } from './kl-vae.ts'
import type { ModelFiles } from './model-files.ts'

/** An autoencoder from a file of its own. */
export async function openVae(name: string, files: ModelFiles, services: FamilyServices): Promise<Vae> {
  const file = await files.open('vae', name)
  const view = autoencoderView(file)
  if (!view) throw new WorkloadError('execution-failed', `${name} has no autoencoder weights in the LDM layout`)
  return createKlVae(keyOf(file), view, services)
}
