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
