import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, WorkloadError } from '../base/errors.ts'

/** The axes of an input: a length, or undefined where it is only known when the graph runs. */
export type OnnxAxes = readonly (number | undefined)[]

/** Field numbers of onnx.proto. */
const MODEL_GRAPH = 7
const GRAPH_INPUT = 11

/** How much of the file is read at a time. */
const WINDOW = 1 << 16

/**
 * The inputs of the model in an `.onnx` file, by name, without reading what else is in it: weights may lie there by the
 * gigabyte. Throws `execution-failed` when it is no such file.
 */
export async function readOnnxInputs(path: string): Promise<ReadonlyMap<string, OnnxAxes>> {
  const file = await open(path)
  try {
    const read = windowed(file)
    const inputs = new Map<string, OnnxAxes>()
    const end = (await file.stat()).size
    for await (const graph of fieldsWithin(read, 0, end)) {
      if (graph.field !== MODEL_GRAPH) continue
      for await (const input of fieldsWithin(read, graph.from, graph.to)) {
        if (input.field !== GRAPH_INPUT) continue
        const [name, axes] = valueInfo(await read(input.from, input.to - input.from))
        inputs.set(name, axes)
      }
    }
    return inputs
  } catch (cause) {
    throw new WorkloadError('execution-failed', `${path} is not a usable ONNX file: ${messageOf(cause)}`, { cause })
  } finally {
    await file.close()
  }
}

/** A field of a protobuf message and where its value lies. */
interface Field {
  readonly field: number
  readonly from: number
  readonly to: number
}

type Read = (position: number, length: number) => Promise<Buffer>

/** Reads through a window that moves along the file. */
function windowed(file: FileHandle): Read {
  let [start, bytes] = [0, Buffer.alloc(0)]
  return async (position, length) => {
    if (position < start || position + length > start + bytes.length) {
      const buffer = Buffer.alloc(Math.max(length, WINDOW))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      ;[start, bytes] = [position, buffer.subarray(0, bytesRead)]
    }
    return bytes.subarray(position - start, position - start + length)
  }
}

/** The longest varint there is, for a tag and for a length. */
const HEAD = 20

async function* fieldsWithin(read: Read, from: number, to: number): AsyncGenerator<Field> {
  for (let at = from; at < to; ) {
    const field = nextField(await read(at, Math.min(HEAD, to - at)), 0)
    if (at + field.to > to) throw new Error('it is cut short')
    yield { field: field.field, from: at + field.from, to: at + field.to }
    at += field.to
  }
}

/** The field that begins at `at`; its value may reach beyond `bytes`. */
function nextField(bytes: Buffer, at: number): Field {
  const [tag, behindTag] = varint(bytes, at)
  const field = Math.floor(tag / 8)
  switch (tag % 8) {
    case 0:
      return { field, from: behindTag, to: varint(bytes, behindTag)[1] }
    case 1:
      return { field, from: behindTag, to: behindTag + 8 }
    case 2: {
      const [length, from] = varint(bytes, behindTag)
      return { field, from, to: from + length }
    }
    case 5:
      return { field, from: behindTag, to: behindTag + 4 }
    default:
      throw new Error('it is no protobuf message')
  }
}

/** The number at `at` and where it ends. */
function varint(bytes: Buffer, at: number): readonly [value: number, end: number] {
  let [value, factor] = [0, 1]
  for (let i = at; i < bytes.length; i++, factor *= 128) {
    value += (bytes[i]! & 127) * factor
    if (bytes[i]! < 128) return [value, i + 1]
  }
  throw new Error('it is cut short')
}

/** The values of the fields numbered `wanted` of a message. */
function valuesOf(message: Buffer, wanted: number): readonly Buffer[] {
  const values: Buffer[] = []
  for (let at = 0; at < message.length; ) {
    const { field, from, to } = nextField(message, at)
    if (field === wanted) values.push(message.subarray(from, to))
    at = to
  }
  return values
}

/** ValueInfoProto: name 1, type 2 → tensor_type 1 → shape 2 → dim 1 → dim_value 1. */
function valueInfo(message: Buffer): readonly [name: string, axes: OnnxAxes] {
  const inside = (messages: readonly Buffer[], field: number) => messages.flatMap((each) => valuesOf(each, field))
  const shapes = [2, 1, 2].reduce(inside, [message])
  const axes = inside(shapes, 1).map((dim) => valuesOf(dim, 1).map((value) => varint(value, 0)[0])[0])
  return [valuesOf(message, 1)[0]?.toString('utf8') ?? '', axes]
}
