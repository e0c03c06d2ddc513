import { modelProto } from '../../src/workload/onnx/model-proto.ts'

interface NodeProto {
  readonly op_type: string
  readonly domain: string
  readonly name: string
  readonly input: readonly string[]
  readonly output: readonly string[]
  readonly attribute: readonly { readonly name: string; readonly f?: number; readonly i?: unknown }[]
}

/**
 * Rewrites a graph's CUDA-only operators (NhwcConv, GroupNorm) into standard ones that the CPU can run, from what ONNX
 * Runtime documents of them, so that a CUDA graph's structure and numbers can be checked on any machine.
 */
export function emulateCuda(bytes: Uint8Array): Uint8Array {
  const proto = modelProto()
  // Decoded by the same schema that wrote it.
  const model = proto.toObject(proto.decode(bytes), { arrays: true, defaults: true, oneofs: false }) as {
    graph: { node: NodeProto[]; initializer: object[] }
  }
  let count = 0
  const node = (op_type: string, input: readonly string[], attribute: readonly object[] = [], domain = '') => {
    const name = `emulated_${++count}`
    nodes.push({ op_type, domain, name, input, output: [name], attribute: attribute as NodeProto['attribute'] })
    return name
  }
  const transpose = (x: string, ...perm: readonly number[]) =>
    node('Transpose', [x], [{ name: 'perm', ints: perm, type: 7 }])
  const constant = (dims: readonly number[], data_type: number, values: Float32Array | BigInt64Array) => {
    const name = `emulated_${++count}`
    model.graph.initializer.push({ name, dims, data_type, raw_data: new Uint8Array(values.buffer) })
    return name
  }
  const nodes: NodeProto[] = []
  for (const each of model.graph.node) {
    const attribute = (name: string) => each.attribute.find((one) => one.name === name)
    const finish = (wire: string) =>
      nodes.push({ ...each, op_type: 'Identity', domain: '', input: [wire], attribute: [] })
    if (each.op_type === 'NhwcConv') {
      const [x, w, ...bias] = each.input as [string, string]
      const inputs = [transpose(x, 0, 3, 1, 2), transpose(w, 0, 3, 1, 2), ...bias]
      finish(transpose(node('Conv', inputs, each.attribute), 0, 2, 3, 1))
    } else if (each.op_type === 'GroupNorm') {
      const [x, gamma, beta] = each.input as [string, string, string]
      const groups = Number(attribute('groups')!.i)
      const first = transpose(x, 0, 3, 1, 2)
      const ones = constant([groups], 1, new Float32Array(groups).fill(1))
      const noughts = constant([groups], 1, new Float32Array(groups))
      const grouped = node('Reshape', [first, constant([3], 7, BigInt64Array.of(0n, BigInt(groups), -1n))])
      const normed = node(
        'InstanceNormalization',
        [grouped, ones, noughts],
        [{ name: 'epsilon', f: attribute('epsilon')!.f, type: 1 }],
      )
      const last = transpose(node('Reshape', [normed, node('Shape', [first])]), 0, 2, 3, 1)
      const scaled = node('Add', [node('Mul', [last, gamma]), beta])
      const silu = [{ name: 'alpha', f: 1, type: 1 }]
      finish(Number(attribute('activation')!.i) === 1 ? node('QuickGelu', [scaled], silu, 'com.microsoft') : scaled)
    } else nodes.push(each)
  }
  return proto.encode(proto.fromObject({ ...model, graph: { ...model.graph, node: nodes } })).finish()
}
