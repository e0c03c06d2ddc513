import { pipelineOf, type RawImage } from './pixels.ts'

/** Pixels along the longer side, and how finely it is written; both as ComfyUI's. */
const SIDE = 512
const QUALITY = 95

/** A sketch as a JPEG that is large enough to look at. */
export async function encodePreview(sketch: RawImage): Promise<Uint8Array> {
  const picture = await pipelineOf(sketch)
  return picture
    .resize({ width: SIDE, height: SIDE, fit: 'inside', kernel: 'linear' })
    .jpeg({ quality: QUALITY })
    .toBuffer()
}
