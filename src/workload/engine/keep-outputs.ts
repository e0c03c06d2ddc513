import { WorkloadError } from '../base/errors.ts'
import type { Emitted } from '../graph/execute.ts'
import type { EngineFile, EngineJob, NodeOutput, ShownFile } from './protocol.ts'

/** Where the artifacts of one job are encoded and kept. */
export interface OutputSpool {
  save(artifact: unknown): Promise<NodeOutput>
}

/** What becomes of what the nodes of one job hand over. */
export interface OutputKeeper {
  /** Encodes what a node emitted and tells of it. */
  keep(emitted: Emitted): Promise<void>
  /** The files of the result, in the order of the graph, and how long encoding took in milliseconds. */
  kept(): { readonly files: readonly EngineFile[]; readonly time: number }
}

/** Outputs are kept as soon as their nodes have run, so that whoever follows the prompt can have them before its end. */
export function createOutputKeeper(
  job: EngineJob,
  spool: OutputSpool,
  signal: AbortSignal,
  onEvent: (event: {
    readonly kind: 'output'
    readonly node: string
    readonly output: NodeOutput
    readonly took: number
  }) => void,
): OutputKeeper {
  const outputs = new Map<string, NodeOutput>()
  let time = 0
  return {
    async keep({ node, artifacts }) {
      const began = performance.now()
      const saved: NodeOutput[] = []
      for (const artifact of artifacts) {
        signal.throwIfAborted()
        saved.push(await spool.save(artifact).catch((error: unknown) => Promise.reject(ofNode(error, node, job))))
      }
      const output = {
        files: saved.flatMap(({ files }) => files),
        texts: saved.flatMap(({ texts }) => texts),
        animated: saved.some(({ animated }) => animated),
      }
      const took = performance.now() - began
      time += took
      outputs.set(node, output)
      onEvent({ kind: 'output', node, output, took })
    },
    kept: () => ({
      files: job.outputs.flatMap((node) => outputs.get(node)?.files.filter(isResult).map(plain) ?? []),
      time: Math.round(time),
    }),
  }
}

const isResult = ({ retention }: ShownFile): boolean => retention === 'output'
const plain = ({ filename, path, bytes, mime }: ShownFile): EngineFile => ({ filename, path, bytes, mime })

/** The spool knows no nodes; the client wants to know which one it was. */
function ofNode(error: unknown, nodeId: string, { prompt }: EngineJob): unknown {
  if (!(error instanceof WorkloadError)) return error
  return new WorkloadError(error.code, error.message, {
    ...error.facts,
    nodeId,
    nodeType: prompt[nodeId]?.class_type,
    cause: error,
  })
}
