import { probeGraph } from '../../src/workload/architectures/probe.ts'
import type { GraphModel } from '../../src/workload/onnx/graph-builder.ts'
import { createRuntime, type Runtime } from '../../src/workload/runtime/runtime.ts'
import type { Session } from '../../src/workload/runtime/session.ts'

/** A real ONNX Runtime on the CPU, with two threads. */
export const cpuRuntime = (maxBatch = 8): Promise<Runtime> =>
  createRuntime({ wanted: 'cpu', device: 0, threads: 2, maxBytes: 0, maxBatch, probe: probeGraph() })

/** `graph`, ready to run. */
export async function sessionOf(graph: GraphModel): Promise<Session> {
  const { session } = await cpuRuntime()
  return session({ key: graph.name, weightBytes: graph.weightBytes, build: () => graph })
}
