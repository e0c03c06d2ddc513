import type { GraphBuilder, Wire } from '../onnx/graph-builder.ts'
import type { StoredTensor } from '../weights/safetensors.ts'
import type { ChangedTensor, Delta, Factor } from '../weights/weight-change.ts'

/** Makes a float32 wire of a stored tensor under another shape; what is made of an `open` one is made at every run. */
export type StoredAs = (name: string, tensor: StoredTensor, dims: readonly number[], open?: boolean) => Wire

/** What the length of a column has added to it, so that nothing is divided by nought: float32's distance from 1. */
const EPSILON = 2 ** -23

/**
 * Operators that work out a weight with its changes, in float32 and in its own shape. ONNX Runtime does that when the
 * session is opened, or at every run when the tensors are `open`.
 */
export function changedWeight(
  graph: GraphBuilder,
  name: string,
  tensor: ChangedTensor,
  stored: StoredAs,
  open: boolean,
): Wire {
  const { op } = graph
  const { dims, changes = [] } = tensor
  const shape = graph.constant([dims.length], BigInt64Array.from(dims, BigInt))
  const scope: Scope = { graph, stored: (part, of, as) => stored(`${name} ${part}`, of, as, open || undefined), open }

  return changes.reduce(
    (before, change, i) => {
      const { delta, dora, scale, strength, kept } = change
      const weight = times(graph, before, kept)
      if (!delta) return weight
      const made = (factor: number) => op('Reshape', [deltaWire(scope, `change ${i}`, delta, dims, factor), shape])
      if (delta.kind === 'set') return made(1)
      if (!dora) return op('Add', [weight, made(strength * scale)])
      const goal = decomposed(scope, weight, op('Add', [weight, made(scale)]), dora, `change ${i} dora`, dims)
      return strength === 1 ? goal : op('Add', [weight, times(graph, op('Sub', [goal, weight]), strength)])
    },
    stored(name, tensor, dims),
  )
}

interface Scope {
  readonly graph: GraphBuilder
  readonly open: boolean
  stored(part: string, of: StoredTensor, as: readonly number[]): Wire
}

const times = (graph: GraphBuilder, x: Wire, factor: number): Wire =>
  factor === 1 ? x : graph.op('Mul', [x, graph.constant([], Float32Array.of(factor))])

/** `factor` times the delta, in whatever shape it comes about; what is multiplied is as small as can be. */
function deltaWire(scope: Scope, name: string, delta: Delta, dims: readonly number[], factor: number): Wire {
  const { graph } = scope
  const { op } = graph
  switch (delta.kind) {
    case 'lora': {
      const up = scope.stored(`${name} up`, delta.up, matrix(delta.up))
      return op('MatMul', [times(graph, up, factor), downWire(scope, name, delta)])
    }
    case 'loha':
      return op('Mul', [
        factorWire(scope, `${name} left`, delta.left, matrixOf, factor),
        factorWire(scope, `${name} right`, delta.right, matrixOf),
      ])
    case 'lokr':
      // [a, 1, b, 1, 1]·[1, c, 1, d, k]: read as [a·c, b·d, k] it is the Kronecker product.
      return op('Mul', [
        factorWire(scope, `${name} left`, delta.left, ([a, b]) => [a, 1, b, 1, 1], factor),
        factorWire(scope, `${name} right`, delta.right, ([c, d, k]) => [1, c, 1, d, k]),
      ])
    default: {
      const values = { ...delta.values, dims }
      const stored: StoredAs = (part, of, as) => scope.stored(part, of, as)
      return times(graph, changedWeight(graph, `${name} values`, values, stored, scope.open), factor)
    }
  }
}

/** `[r, in · kernel]`, with the core between ranks and kernel multiplied in if there is one. */
function downWire(scope: Scope, name: string, { down, mid }: Extract<Delta, { kind: 'lora' }>): Wire {
  const { op, constant } = scope.graph
  if (!mid) return scope.stored(`${name} down`, down, matrix(down))
  const [outer = 1, inner = 1, ...kernel] = mid.dims
  const area = kernel.reduce((product, side) => product * side, 1)
  // mid [o, i, k] → [o, k, i] · down [i, n] → [o, k, n] → [o, n, k]
  const core = op('Transpose', [scope.stored(`${name} mid`, mid, [outer, inner, area])], {
    attributes: { perm: [0, 2, 1] },
  })
  const product = op('MatMul', [core, scope.stored(`${name} down`, down, matrix(down))])
  const ordered = op('Transpose', [product], { attributes: { perm: [0, 2, 1] } })
  return op('Reshape', [ordered, constant([2], BigInt64Array.of(BigInt(outer), -1n))])
}

/** Rows, columns and, of a convolution, the places of its kernel. */
type Sizes = readonly [rows: number, columns: number, kernel: number]
type Shape = (sizes: Sizes) => readonly number[]

const matrixOf: Shape = ([rows, columns, kernel]) => [rows, columns * kernel]

/** `scale` times a factor, under the shape that `shape` gives for its sizes. */
function factorWire(scope: Scope, name: string, factor: Factor, shape: Shape, scale = 1): Wire {
  const { graph } = scope
  const { op, constant } = graph
  if ('whole' in factor) return times(graph, scope.stored(name, factor.whole, shape(sizesOf(factor.whole))), scale)
  const { a, b, t } = factor
  const put = (wire: Wire, sizes: Sizes) => {
    const dims = shape(sizes)
    return op('Reshape', [wire, constant([dims.length], BigInt64Array.from(dims, BigInt))])
  }
  const left = times(graph, scope.stored(`${name} a`, a, matrix(a)), scale)
  const right = scope.stored(`${name} b`, b, matrix(b))
  if (!t) {
    const [, columns, kernel] = sizesOf(b)
    return put(op('MatMul', [left, right]), [a.dims[0]!, columns, kernel])
  }
  const [i, j, area] = sizesOf(t)
  const [p, r] = [a.dims[1]!, b.dims[1]!]
  const rows = op('MatMul', [
    op('Transpose', [left], { attributes: { perm: [1, 0] } }),
    scope.stored(`${name} t`, t, [i, j * area]),
  ])
  const cube = op('Reshape', [rows, constant([3], BigInt64Array.of(BigInt(p), BigInt(j), BigInt(area)))])
  return put(op('MatMul', [op('Transpose', [right], { attributes: { perm: [1, 0] } }), cube]), [p, r, area])
}

const sizesOf = ({ dims: [rows = 1, columns = 1, ...kernel] }: StoredTensor): Sizes => [
  rows,
  columns,
  kernel.reduce((product, side) => product * side, 1),
]

/** `[first, all the rest]` */
function matrix({ dims: [rows = 1, ...rest] }: StoredTensor): readonly number[] {
  return [rows, rest.reduce((product, dim) => product * dim, 1)]
}

/**
 * `sum` with the lengths `dora`: a length for each output, then of the weight before the change; or for each input, then
 * of the changed weight.
 */
function decomposed(
  { graph, stored }: Scope,
  weight: Wire,
  sum: Wire,
  dora: StoredTensor,
  name: string,
  dims: readonly number[],
): Wire {
  const { op } = graph
  const [outputs = 1, inputs = 1, ...kernel] = dims
  const byOutput = dora.dims[0] === outputs
  const lengths = stored(
    name,
    dora,
    byOutput ? [outputs, ...dims.slice(1).map(() => 1)] : [1, inputs, ...kernel.map(() => 1)],
  )
  const axes = dims.map((_, axis) => axis).filter((axis) => axis !== (byOutput ? 0 : 1))
  const norm = op('ReduceL2', [byOutput ? weight : sum], { attributes: { axes, keepdims: 1 } })
  const safe = op('Add', [norm, graph.constant([], Float32Array.of(EPSILON))])
  return op('Mul', [sum, op('Div', [lengths, safe])])
}
