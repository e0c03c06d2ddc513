import type { Stats } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { z } from 'zod'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { fromBfloat16, fromFloat16 } from '../tensor/half.ts'
import { sizeOf, type Tensor, tensor } from '../tensor/tensor.ts'
import { readSlice } from './read-slice.ts'

/** Bytes a value, by the format's name for the type. */
const widths: Readonly<Record<string, number>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
}

/** Where one tensor lies in its file; `offset` is absolute. */
export interface StoredTensor {
  readonly path: string
  readonly dtype: string
  readonly dims: readonly number[]
  readonly offset: number
  readonly length: number
}

/** The index of a `.safetensors` file, or of several that hold one network; the data stays where it is. */
export interface SafetensorsFile {
  /** The real path, links resolved: model hubs keep links into a blob store. Of several files, that of their folder. */
  readonly path: string
  /** Changes whenever the file is replaced. */
  readonly version: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly metadata: Readonly<Record<string, string>>
}

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.number().int().nonnegative()),
  data_offsets: z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]),
})

/** A header longer than this is no header: the format's own limit. */
const HEADER_LIMIT = 100_000_000

/**
 * Reads the index of a safetensors file: 8 bytes length, JSON header, data.
 * Throws `execution-failed` with the file's fault when it is cut short, overlong or inconsistent.
 */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const real = await realpath(path)
  const handle = await open(real)
  try {
    return { path: real, ...(await readIndex(handle, real)) }
  } catch (cause) {
    throw new WorkloadError('execution-failed', `${path} is not a usable safetensors file: ${messageOf(cause)}`, {
      cause,
    })
  } finally {
    await handle.close()
  }
}

/** What changes when a file is replaced. */
export const versionOf = ({ size, mtimeMs, ino }: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): string =>
  `${size}-${mtimeMs}-${ino}`

async function readIndex(handle: FileHandle, path: string): Promise<Omit<SafetensorsFile, 'path'>> {
  const stats = await handle.stat()
  const { size } = stats
  const prefix = await readExactly(handle, 0, 8)
  const headerLength = Number(prefix.readBigUInt64LE())
  if (headerLength > HEADER_LIMIT || 8 + headerLength > size) throw new Error('its header runs past its end')
  const header: unknown = JSON.parse((await readExactly(handle, 8, headerLength)).toString('utf8'))
  const { __metadata__: metadata = {}, ...entries } = z.record(z.string(), z.unknown()).parse(header)

  const tensors = new Map<string, StoredTensor>()
  for (const [name, entry] of Object.entries(entries)) {
    const { dtype, shape, data_offsets } = entrySchema.parse(entry)
    const [from, to] = data_offsets
    const width = widths[dtype]
    if (width === undefined) throw new Error(`tensor ${name} has the unknown type ${dtype}`)
    if (to - from !== sizeOf(shape) * width) throw new Error(`tensor ${name} has ${to - from} bytes for [${shape}]`)
    const offset = 8 + headerLength + from
    if (offset + to - from > size) throw new Error(`tensor ${name} ends behind the end of the file: is it whole?`)
    tensors.set(name, { path, dtype, dims: shape, offset, length: to - from })
  }
  return {
    version: versionOf(stats),
    tensors,
    metadata: z.record(z.string(), z.string()).catch({}).parse(metadata),
  }
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await handle.read(buffer, 0, length, position)
  if (bytesRead !== length) throw new Error('it is cut short')
  return buffer
}

/** A stored tensor as float32, whatever floating-point type the file has. */
export async function readTensor(file: SafetensorsFile, name: string): Promise<Tensor> {
  const stored = file.tensors.get(name)
  if (!stored) throw new WorkloadError('execution-failed', `${file.path} has no tensor ${name}`)
  return readStored(stored, name)
}

/** The same of a tensor whose place is known; `name` is for errors. */
export async function readStored(stored: StoredTensor, name: string): Promise<Tensor> {
  const { buffer } = await readSlice(stored)
  return tensor(stored.dims, toFloat32(buffer, stored.dtype, name))
}

function toFloat32(buffer: ArrayBuffer, dtype: string, name: string): Float32Array {
  switch (dtype) {
    case 'F32':
      return new Float32Array(buffer)
    case 'F64':
      return Float32Array.from(new Float64Array(buffer))
    case 'F16':
      return fromFloat16(new Uint16Array(buffer))
    case 'BF16':
      return fromBfloat16(new Uint16Array(buffer))
    default:
      throw new WorkloadError('execution-failed', `tensor ${name} is ${dtype}, not a floating-point type read here`)
  }
}
