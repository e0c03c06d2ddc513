import { type FileHandle, open } from 'node:fs/promises'
import { WorkloadError } from '../base/errors.ts'
import { fromFloat16 } from '../tensor/half.ts'
import type { StoredTensor } from './safetensors.ts'

/** Reads a stored tensor as float32 into an array of its size. */
export type ReadInto = (stored: StoredTensor, into: Float32Array) => Promise<void>

/**
 * Lends `work` a reader for many tensors, one after the other, of few files. They pass through one buffer: memory that
 * is touched for the first time costs more than reading.
 */
export async function withTensorReader<T>(work: (read: ReadInto) => Promise<T>): Promise<T> {
  const files = new Map<string, FileHandle>()
  const halves = fromFloat16(Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits))
  let buffer = new ArrayBuffer(0)
  const read: ReadInto = async (stored, into) => {
    const { path, offset, length } = stored
    if (buffer.byteLength < length) buffer = new ArrayBuffer(length)
    const file = files.get(path) ?? (await open(path))
    files.set(path, file)
    const { bytesRead } = await file.read(new Uint8Array(buffer, 0, length), 0, length, offset)
    if (bytesRead !== length) throw new WorkloadError('execution-failed', `${path} is cut short`)
    decode(stored, buffer, halves, into)
  }
  try {
    return await work(read)
  } finally {
    await Promise.all([...files.values()].map((file) => file.close()))
  }
}

function decode({ path, dtype }: StoredTensor, buffer: ArrayBuffer, halves: Float32Array, into: Float32Array): void {
  const { length } = into
  switch (dtype) {
    case 'F32':
      into.set(new Float32Array(buffer, 0, length))
      return
    case 'F64':
      into.set(new Float64Array(buffer, 0, length))
      return
    case 'F16': {
      const bits = new Uint16Array(buffer, 0, length)
      for (let i = 0; i < length; i++) into[i] = halves[bits[i]!]!
      return
    }
    case 'BF16': {
      const bits = new Uint16Array(buffer, 0, length)
      const words = new Uint32Array(into.buffer, into.byteOffset, length)
      for (let i = 0; i < length; i++) words[i] = bits[i]! << 16
      return
    }
    default:
      throw new WorkloadError('execution-failed', `${path} has tensors of the type ${dtype}, which is not read here`)
  }
}
