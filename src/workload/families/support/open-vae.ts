import { WorkloadError } from '../../base/errors.ts'
import type { Vae } from '../../model/ports.ts'
import { autoencoderView } from '../../weights/checkpoint-layout.ts'
import { viewOf } from '../../weights/weight-view.ts'
import { keyOf } from './checkpoint-file.ts'
import type { FamilyServices } from './family.ts'
import { createKlVae } from './kl-vae.ts'
import type { ModelFiles } from './model-files.ts'
import { createTinyVae } from './tiny-vae.ts'

/** The tiny autoencoders by the name they are chosen by, and the scale of the latents each was trained on. */
const tiny: Readonly<Record<string, { readonly scale: number; readonly shift: number }>> = {
  taesd: { scale: 0.18215, shift: 0 },
  taesdxl: { scale: 0.13025, shift: 0 },
  taesd3: { scale: 1.5305, shift: 0.0609 },
  taef1: { scale: 0.3611, shift: 0.1159 },
}

/** An autoencoder from a file of its own, or a tiny one by its name. */
export async function openVae(name: string, files: ModelFiles, services: FamilyServices): Promise<Vae> {
  const scaling = tiny[name]
  if (scaling) return openTinyVae(name, scaling, files, services)
  const file = await files.open('vae', name)
  const view = autoencoderView(file)
  if (view) return createKlVae(keyOf(file), view, services)
  throw new WorkloadError('execution-failed', `${name} holds no KL autoencoder in the layout of LDM or of diffusers`)
}

async function openTinyVae(
  name: string,
  scaling: { readonly scale: number; readonly shift: number },
  files: ModelFiles,
  services: FamilyServices,
): Promise<Vae> {
  const names = await files.list('vae_approx')
  const half = async (part: 'encoder' | 'decoder') => {
    const found = names.filter((file) => file.startsWith(`${name}_${part}.`))
    const file = found.find((each) => /\.(safetensors|sft)$/i.test(each)) ?? found[0] ?? `${name}_${part}.safetensors`
    return files.open('vae_approx', file)
  }
  const [encoder, decoder] = await Promise.all([half('encoder'), half('decoder')])
  const views = { encoder: viewOf(encoder, ''), decoder: viewOf(decoder, '') }
  if (!views.encoder.has('0.weight') || !views.decoder.has('1.weight'))
    throw new WorkloadError('execution-failed', `the files of ${name} in vae_approx are no TAESD autoencoder`)
  return createTinyVae({ key: `${keyOf(encoder)} ${keyOf(decoder)}`, ...views, ...scaling }, services)
}
