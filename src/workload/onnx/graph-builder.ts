import { dirname, relative, sep } from 'node:path'
import { type AttributeValue, attributeProto } from './attributes.ts'
import { dataType, type ElementType } from './data-type.ts'
import { modelProto } from './model-proto.ts'

const IR_VERSION = 9
const OPSET = 17

/** A named wire in a graph under construction. */
export interface Wire {
  readonly wire: string
}

/** An axis: its length, or a name for a length that is only known when the graph runs. */
export type Axis = number | string

/** Bytes of a file that an initializer reads; nothing is copied into the graph. */
export interface FileSlice {
  readonly path: string
  readonly offset: number
  readonly length: number
}

export interface GraphBuilder {
  input(name: string, axes: readonly Axis[], type?: ElementType): Wire
  /** An initializer written into the graph itself. */
  constant(dims: readonly number[], values: Float32Array | Float64Array | BigInt64Array | Uint16Array): Wire
  /** An initializer that stays in its file. What is made of one that is `open` is made at every run, not when the graph is opened. */
  external(name: string, type: ElementType, dims: readonly number[], slice: FileSlice, open?: boolean): Wire
  /** An input that may be left out, and then has `values` `[dims]`; `axes` tell the shapes that it may have. */
  optional(name: string, axes: readonly Axis[], dims: readonly number[], values: Float32Array): Wire
  /** An initializer `[O, H, W, I]` of a convolution's weights that a file holds as `[O, I, H, W]`; in-memory graphs only. */
  channelsLast(name: string, type: ElementType, stored: FileSlice & { readonly dims: readonly number[] }): Wire
  /** One operator; an absent optional input is undefined. */
  op(type: string, inputs: readonly (Wire | undefined)[], options?: OperatorOptions): Wire
  /** As `op`, for operators with several outputs. */
  ops(type: string, inputs: readonly (Wire | undefined)[], outputs: number, options?: OperatorOptions): readonly Wire[]
  output(name: string, of: Wire, axes: readonly Axis[], type?: ElementType): void
  /** The finished graph. */
  finish(): GraphModel
}

export interface OperatorOptions {
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  /** `com.microsoft` for ONNX Runtime's own operators; the standard ones have none. */
  readonly domain?: string
  /**
   * It has inputs of the same kind and initializers only. Of the inputs of an operator ONNX Runtime works out the one
   * whose operator stands last first, with all that leads to it; weights that are made at a run stand in front, so that
   * each is made right before it is used and not held meanwhile.
   */
  readonly ofWeights?: boolean
}

/** A graph ready to be opened: the bytes of an ONNX ModelProto and the files its initializers lie in. */
export interface GraphModel {
  readonly name: string
  readonly bytes: Uint8Array
  /** The folder that all files lie in or below which initializers read; undefined when they read none. */
  readonly folder: string | undefined
  /** What the initializers occupy in the files. */
  readonly weightBytes: number
  /** Initializers that whoever opens the graph must read into memory; ONNX Runtime takes either these or files. */
  readonly blobs: readonly Blob[]
  /** Whoever runs the graph must give these for inputs that are left out. */
  readonly defaults: readonly Default[]
}

/** What an input is when it is left out. */
export interface Default {
  readonly name: string
  readonly dims: readonly number[]
  readonly data: Float32Array
}

/** Weights to be supplied from memory under the name `location`. */
export interface Blob {
  readonly location: string
  readonly slice: FileSlice
  /** The stored `[O, I, H, W]` of weights that are wanted as `[O, H, W, I]`. */
  readonly channelsLastOf?: readonly number[]
}

/** Where initializers come from: files are mapped and cost nothing, memory allows rearranging. */
export type WeightPlace = 'files' | 'memory'

/** Collects operators and writes them out once; `createGraph('g')` starts an empty one. */
export function createGraph(name: string, place: WeightPlace = 'files'): GraphBuilder {
  const graph = {
    name,
    node: [] as object[],
    initializer: [] as object[],
    input: [] as object[],
    output: [] as object[],
  }
  const placed: Placed[] = []
  const weightNodes: object[] = []
  const blobs: Blob[] = []
  const defaults: Default[] = []
  let weightBytes = 0
  let count = 0

  const ops: GraphBuilder['ops'] = (type, inputs, outputs, options = {}) => {
    const { attributes = {}, domain = '', ofWeights = false } = options
    const wire = `${type}_${++count}`
    const output = Array.from({ length: outputs }, (_, i) => (i === 0 ? wire : `${wire}_${i}`))
    const nodes = ofWeights ? weightNodes : graph.node
    nodes.push({
      op_type: type,
      name: wire,
      domain,
      input: inputs.map((input) => input?.wire ?? ''),
      output,
      attribute: Object.entries(attributes).map(([key, value]) => attributeProto(key, value)),
    })
    return output.map((each) => ({ wire: each }))
  }

  const initializer = (
    wire: string,
    type: ElementType,
    dims: readonly number[],
    { place, ...from }: Location,
  ): Wire => {
    weightBytes += from.length
    const proto = { name: wire, dims, data_type: dataType[type], external_data: [] as object[], data_location: 1 }
    graph.initializer.push(proto)
    placed.push({ external_data: proto.external_data, place, ...from })
    return { wire }
  }

  return {
    input(wire, axes, type = 'float32') {
      graph.input.push(valueInfo(wire, axes, type))
      return { wire }
    },
    constant(dims, values) {
      const wire = `constant_${++count}`
      const type = elementTypeOf(values)
      const raw_data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
      graph.initializer.push({ name: wire, dims, data_type: dataType[type], raw_data })
      return { wire }
    },
    external(key, type, dims, { path, offset, length }, open = false) {
      const wire = `${key}[${dims}]`
      // ONNX Runtime takes what may be replaced by an input for no constant.
      if (open) graph.input.push(valueInfo(wire, dims, type))
      if (place === 'files') return initializer(wire, type, dims, { place: { path }, offset, length })
      blobs.push({ location: wire, slice: { path, offset, length } })
      return initializer(wire, type, dims, { place: { blob: wire }, offset: 0, length })
    },
    optional(name, axes, dims, data) {
      graph.input.push(valueInfo(name, axes, 'float32'))
      defaults.push({ name, dims, data })
      return { wire: name }
    },
    channelsLast(key, type, { path, offset, length, dims: [o = 1, i = 1, h = 1, w = 1] }) {
      const wire = `${key} channels last`
      blobs.push({ location: wire, slice: { path, offset, length }, channelsLastOf: [o, i, h, w] })
      return initializer(wire, type, [o, h, w, i], { place: { blob: wire }, offset: 0, length })
    },
    op: (type, inputs, options) => ops(type, inputs, 1, options)[0]!,
    ops,
    output(wire, of, axes, type = 'float32') {
      graph.node.push({ op_type: 'Identity', name: wire, input: [of.wire], output: [wire] })
      graph.output.push(valueInfo(wire, axes, type))
    },
    finish() {
      const folder = commonFolder(placed.flatMap(({ place }) => ('path' in place ? place.path : [])))
      for (const { external_data, place, offset, length } of placed) {
        const location = 'path' in place ? relative(folder!, place.path) : place.blob
        for (const [key, value] of Object.entries({ location, offset, length }))
          external_data.push({ key, value: String(value) })
      }
      const proto = modelProto()
      const opset_import = [
        { domain: '', version: OPSET },
        { domain: 'com.microsoft', version: 1 },
      ]
      const ordered = { ...graph, node: [...weightNodes, ...graph.node] }
      const model = { ir_version: IR_VERSION, producer_name: 'easel', opset_import, graph: ordered }
      const bytes = proto.encode(proto.fromObject(model)).finish()
      return { name, bytes, folder, weightBytes, blobs, defaults }
    },
  }
}

/** Where an initializer's bytes are. */
interface Location {
  readonly place: { readonly path: string } | { readonly blob: string }
  readonly offset: number
  readonly length: number
}

/** An initializer whose place is written down once it is known which folder all files lie in. */
interface Placed extends Location {
  readonly external_data: object[]
}

/** The deepest folder that all files lie in or below. */
function commonFolder([first, ...others]: readonly string[]): string | undefined {
  if (first === undefined) return undefined
  const within = (folder: string, path: string) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
  let folder = dirname(first)
  for (const path of others) while (!within(folder, path)) folder = dirname(folder)
  return folder
}

/** Half-precision values are kept as their bits. */
function elementTypeOf(values: Float32Array | Float64Array | BigInt64Array | Uint16Array): ElementType {
  if (values instanceof Float32Array) return 'float32'
  if (values instanceof Float64Array) return 'float64'
  return values instanceof Uint16Array ? 'float16' : 'int64'
}

function valueInfo(name: string, axes: readonly Axis[], type: ElementType) {
  const dim = axes.map((axis) => (typeof axis === 'number' ? { dim_value: axis } : { dim_param: axis }))
  return { name, type: { tensor_type: { elem_type: dataType[type], shape: { dim } } } }
}
