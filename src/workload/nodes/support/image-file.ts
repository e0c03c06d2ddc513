import { rowsOf } from '../../tensor/rows.ts'
import { type Tensor, zeros } from '../../tensor/tensor.ts'
import type { NodeCheck, NodeContext } from './define.ts'

type Literals = Readonly<Record<string, unknown>>

/** For `validate`: whether the picture that the input `image` names can be read. */
export async function checkImage({ image }: Literals, host: NodeCheck): Promise<string | undefined> {
  if (typeof image !== 'string' || (await host.hasImage(image))) return undefined
  return `Invalid image file: ${image}`
}

/** For `fingerprint`: a picture under the same name may have changed since the last run. */
export function imageFingerprint({ image }: Literals, { images }: NodeContext): Promise<string> {
  return images.hash(String(image))
}

/** For `run`: the picture that the input `image` names, and a mask of what is transparent in it. */
export async function loadPicture(
  { image }: { readonly image: string },
  { images }: NodeContext,
): Promise<readonly [Tensor, Tensor]> {
  const { pixels, mask } = await images.load(image)
  // Upstream hands on an empty mask of this size for an opaque picture, whatever the picture's own size.
  return [pixels, mask ?? zeros([rowsOf(pixels), 64, 64])]
}
