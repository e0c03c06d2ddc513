import { open } from 'node:fs/promises'
import { sizeOf } from '../tensor/tensor.ts'

/** The bytes of one part of a file. Throws when the file ends before it does. */
export async function readSlice(slice: {
  readonly path: string
  readonly offset: number
  readonly length: number
}): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(slice.length)
  const file = await open(slice.path)
  try {
    const { bytesRead } = await file.read(bytes, 0, slice.length, slice.offset)
    if (bytesRead !== slice.length) throw new Error(`${slice.path} is cut short`)
  } finally {
    await file.close()
  }
  return bytes
}

/** `[O, I, H, W]` → `[O, H, W, I]` over raw bytes. */
export function channelsLast(bytes: Uint8Array<ArrayBuffer>, dims: readonly number[]): Uint8Array {
  const [outputs = 1, inputs = 1, height = 1, width = 1] = dims
  const size = bytes.length / sizeOf(dims)
  const area = height * width
  if (area === 1) return bytes
  const View = size === 4 ? Uint32Array : size === 2 ? Uint16Array : Uint8Array
  const from = new View(bytes.buffer, bytes.byteOffset, bytes.length / size)
  const to = new View(from.length)
  for (let o = 0; o < outputs; o++)
    for (let i = 0; i < inputs; i++)
      for (let k = 0; k < area; k++) to[(o * area + k) * inputs + i] = from[(o * inputs + i) * area + k]!
  return new Uint8Array(to.buffer)
}
