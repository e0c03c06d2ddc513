import { WorkloadError } from '../../base/errors.ts'
import type { Colour, LatentColours } from '../../model/ports.ts'
import { readStored } from '../../weights/safetensors.ts'
import type { CheckpointWeights } from './family.ts'

/** Of the autoencoder that Stable Diffusion 1 and 2 share; the numbers are those of ComfyUI's previews. */
export const sdColours: LatentColours = {
  factors: [
    [0.3512, 0.2297, 0.3227],
    [0.325, 0.4974, 0.235],
    [-0.2829, 0.1762, 0.2721],
    [-0.212, -0.2616, -0.7177],
  ],
}

/** The same of SDXL's autoencoder, which its refiner shares. */
export const sdxlColours: LatentColours = {
  factors: [
    [0.3651, 0.4232, 0.4341],
    [-0.2533, -0.0042, 0.1068],
    [0.1076, 0.1111, -0.0362],
    [-0.3165, -0.2492, -0.2188],
  ],
  bias: [0.1084, -0.0175, -0.0011],
}

/** The mark of a checkpoint whose autoencoder is its own: `[5, 3]`, the factors of four channels and below them the bias. */
const MARK = 'latent_rgb'

/** What a checkpoint says of its latents' colours; undefined when it says nothing. Throws `execution-failed` for nonsense. */
export async function coloursIn(marks: CheckpointWeights['marks']): Promise<LatentColours | undefined> {
  const stored = marks.get(MARK)
  if (!stored) return undefined
  const { dims, data } = await readStored(stored, MARK)
  if (dims.join() !== '5,3')
    throw new WorkloadError('execution-failed', `the checkpoint's ${MARK} has the shape [${dims}]`)
  const line = (row: number): Colour => [data[row * 3]!, data[row * 3 + 1]!, data[row * 3 + 2]!]
  return { factors: [0, 1, 2, 3].map(line), bias: line(4) }
}
