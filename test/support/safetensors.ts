import { writeFile } from 'node:fs/promises'
import { Float16Array } from '@petamoriken/float16'

/** How the values of a written file are stored. */
export type Stored = 'F32' | 'F16' | 'BF16'

/** Writes a safetensors file of `tensors`; values are float32 and stored as `dtype`. */
export async function writeSafetensors(
  path: string,
  tensors: Readonly<Record<string, { readonly dims: readonly number[]; readonly data: Float32Array }>>,
  dtype: Stored = 'F32',
): Promise<string> {
  const header: Record<string, unknown> = {}
  const parts: Uint8Array[] = []
  let at = 0
  for (const [name, { dims, data }] of Object.entries(tensors)) {
    const part = bytesOf(data, dtype)
    header[name] = { dtype, shape: dims, data_offsets: [at, at + part.length] }
    parts.push(part)
    at += part.length
  }
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.length))
  await writeFile(path, Buffer.concat([length, json, ...parts]))
  return path
}

function bytesOf(data: Float32Array, dtype: Stored): Uint8Array {
  if (dtype === 'F16') return new Uint8Array(Float16Array.from(data).buffer)
  if (dtype === 'F32') return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  const bits = new Uint32Array(data.slice().buffer)
  return new Uint8Array(Uint16Array.from(bits, (word) => (word + 0x7fff + ((word >> 16) & 1)) >>> 16).buffer)
}
