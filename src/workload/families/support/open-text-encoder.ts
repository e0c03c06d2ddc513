import { WorkloadError } from '../../base/errors.ts'
import type { TextEncoder } from '../../model/ports.ts'
import { keyOf } from './checkpoint-file.ts'
import {
  createRefinerTextEncoder,
  createSd1TextEncoder,
  createSd2TextEncoder,
  createSdxlTextEncoder,
} from './clip-text-encoder.ts'
import type { ClipSize, ClipSource, ClipWeights } from './clip-text-model.ts'
import type { FamilyServices } from './family.ts'
import type { ModelFiles } from './model-files.ts'
import { textWeightsOf } from './text-weights.ts'

/** The types of model whose text encoders are built here, and how many files each is made of. */
const filesOfType: Readonly<Record<string, number>> = { stable_diffusion: 1, sdxl: 2 }

const titles = { l: 'CLIP-L', g: 'OpenCLIP-G', h: 'OpenCLIP-H' } as const satisfies Record<ClipSize, string>

/**
 * The text encoder that the files `names` make up for models of `type`. Which file is which is told by its weights,
 * so their order is free: L alone is that of Stable Diffusion 1, H of 2, G of the SDXL refiner, L and G of SDXL.
 */
export async function openTextEncoder(
  names: readonly string[],
  type: string,
  files: ModelFiles,
  services: FamilyServices,
): Promise<TextEncoder> {
  if (filesOfType[type] !== names.length)
    throw new WorkloadError(
      'execution-failed',
      `text encoders of type ${type} from ${names.length === 1 ? '1 file' : `${names.length} files`} are not supported: ` +
        'stable_diffusion from one file and sdxl from two are',
    )
  const found = await Promise.all(names.map((name) => encoderIn(name, files)))
  const part = (size: ClipSize): ClipSource | undefined => found.find((each) => each.size === size)?.source
  const [l, g, h] = [part('l'), part('g'), part('h')]
  if (names.length === 2) {
    if (l && g) return createSdxlTextEncoder({ l, g }, services)
    const sizes = found.map(({ size }, i) => `${names[i]} is ${titles[size]}`)
    throw new WorkloadError('execution-failed', `SDXL needs CLIP-L and OpenCLIP-G, but ${sizes.join(' and ')}`)
  }
  if (g) return createRefinerTextEncoder(g, services)
  return h ? createSd2TextEncoder(h, services) : createSd1TextEncoder(l!, services)
}

async function encoderIn(name: string, files: ModelFiles): Promise<{ size: ClipSize; source: ClipSource }> {
  const file = await files.open('text_encoders', name)
  const [entry] = Object.entries(textWeightsOf(file)) as [ClipSize, ClipWeights['view']][] // its keys are the sizes
  if (!entry) throw new WorkloadError('execution-failed', `${name} holds no CLIP text encoder`)
  const [size, view] = entry
  return { size, source: { key: keyOf(file), view } }
}
