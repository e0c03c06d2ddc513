import { probeGraph } from '../../src/workload/architectures/probe.ts'
import { sourceOf } from '../../src/workload/families/support/session-source.ts'
import type { GraphModel } from '../../src/workload/onnx/graph-builder.ts'
import { createRuntime, type Runtime } from '../../src/workload/runtime/runtime.ts'
import type { Session } from '../../src/workload/runtime/session.ts'

/** A real ONNX Runtime on the CPU, with two threads. */
export const cpuRuntime = (maxBatch = 8): Promise<Runtime> =>
  createRuntime({ wanted: 'cpu', device: 0, threads: 2, maxBytes: 0, maxBatch, probe: probeGraph() })

/** `graph`, ready to run; its bytes may first go through `rewrite`. */
export async function sessionOf(graph: GraphModel, rewrite = (bytes: Uint8Array) => bytes): Promise<Session> {
  const { session } = await cpuRuntime()
  const source = await sourceOf(graph)
  const build = async () => ({ ...source, bytes: rewrite(source.bytes) })
  return session({ key: graph.name, weightBytes: graph.weightBytes, build })
}
