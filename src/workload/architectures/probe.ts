import { createGraph } from '../onnx/graph-builder.ts'

/** The bytes of the smallest graph there is, to find out whether an execution provider works. */
export function probeGraph(): Uint8Array {
  const graph = createGraph('probe')
  graph.output('y', graph.input('x', ['N']), ['N'])
  return graph.finish().bytes
}
