import { messageOf, WorkloadError } from '../base/errors.ts'
import { rowsOf } from '../tensor/rows.ts'
import { animatedPng } from './animated-png.ts'
import { animatedWebp } from './animated-webp.ts'
import type { AnimationArtifact } from './images.ts'
import { rawImage } from './pixels.ts'

/** The file of a moving picture with its metadata. */
export async function encodeAnimation(
  { pixels, encoding }: AnimationArtifact,
  metadata: Readonly<Record<string, unknown>>,
): Promise<{ data: Buffer; mime: string }> {
  const frames = Array.from({ length: rowsOf(pixels) }, (_, row) => rawImage(pixels, row))
  try {
    const data =
      encoding.format === 'webp'
        ? await animatedWebp(frames, encoding, metadata)
        : await animatedPng(frames, encoding, metadata)
    return { data, mime: `image/${encoding.format}` }
  } catch (cause) {
    throw new WorkloadError('conversion-failed', `the frames could not be encoded: ${messageOf(cause)}`, { cause })
  }
}
