import type { GraphModel } from '../../architectures/lowering.ts'
import type { SessionSource } from '../../runtime/onnx-session.ts'
import { channelsLast, readSlice } from '../../weights/read-slice.ts'

/** `graph` with the weights that it wants from memory read and arranged. */
export async function sourceOf({ name, bytes, folder, blobs, defaults }: GraphModel): Promise<SessionSource> {
  const held: { path: string; data: Uint8Array }[] = []
  for (const { location, slice, channelsLastOf } of blobs) {
    const stored = await readSlice(slice)
    held.push({ path: location, data: channelsLastOf ? channelsLast(stored, channelsLastOf) : stored })
  }
  return { name, bytes, folder, defaults, ...(held.length > 0 && { blobs: held }) }
}
