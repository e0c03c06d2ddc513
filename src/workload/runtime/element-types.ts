import { WorkloadError } from '../base/errors.ts'
import { fromFloat16, toFloat16 } from '../tensor/half.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import type { OnnxRuntime } from './onnx-session.ts'

type OnnxTensor = InstanceType<OnnxRuntime['Tensor']>

/** What a value must be for an input of the graph. */
export interface Declared {
  readonly type: string
  /** Axes of any length by their names; none for a scalar. */
  readonly shape: readonly (number | string)[]
}

/**
 * `t` as a graph declares its input: numbers rounded to what the type holds; a scalar takes the only value of `t`. An
 * input that it does not declare goes as it is, for ONNX Runtime to refuse.
 */
export function toOnnx(ort: OnnxRuntime, t: Tensor, declared: Declared | undefined): OnnxTensor {
  const { type, shape } = declared ?? { type: 'float32', shape: t.dims }
  const dims = shape.length === 0 && t.data.length === 1 ? [] : t.dims
  switch (type) {
    case 'float32':
      return new ort.Tensor('float32', t.data, dims)
    case 'float16':
      return halfTensor(ort, toFloat16(t.data), dims)
    case 'float64':
      return new ort.Tensor('float64', Float64Array.from(t.data), dims)
    case 'int64':
      return new ort.Tensor(
        'int64',
        BigInt64Array.from(t.data, (value) => BigInt(whole(value))),
        dims,
      )
    case 'int32':
      return new ort.Tensor('int32', Int32Array.from(t.data, whole), dims)
    case 'bool':
      return new ort.Tensor('bool', Uint8Array.from(t.data, Number), dims)
    default:
      throw new WorkloadError('execution-failed', `an input of the graph has the type ${type}, which is not made here`)
  }
}

function whole(value: number): number {
  if (Number.isInteger(value)) return value
  throw new WorkloadError('execution-failed', `the graph takes whole numbers, not ${value}`)
}

/**
 * ONNX Runtime's native side knows half precision as its bits only. Where JavaScript has an array type of its own for
 * it, the constructor takes that, and the bits have to be put back.
 */
function halfTensor(ort: OnnxRuntime, bits: Uint16Array, dims: readonly number[]): OnnxTensor {
  const made = new ort.Tensor('float16', bits, dims)
  if (!(made.data instanceof Uint16Array)) Object.assign(made, { cpuData: bits })
  return made
}

/** An output of a graph as float32. */
export function fromOnnx({ type, data, dims }: OnnxTensor): Tensor {
  if (data instanceof Float32Array) return tensor(dims, data)
  if (data instanceof Uint16Array && type === 'float16') return tensor(dims, fromFloat16(data))
  if (type === 'float16' || data instanceof Float64Array || data instanceof Int32Array)
    return tensor(dims, Float32Array.from(data as Iterable<number>)) // the type is an array of numbers
  if (data instanceof BigInt64Array) return tensor(dims, Float32Array.from(data, Number))
  throw new WorkloadError('execution-failed', `an output of the graph has the type ${type}, which is not read here`)
}
