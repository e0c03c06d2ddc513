import { dirname } from 'node:path'
import type { InferenceSession } from 'onnxruntime-node'
import { messageOf, WorkloadError } from '../base/errors.ts'
import { type Tensor, tensor } from '../tensor/tensor.ts'
import type { Provider } from './provider.ts'
import type { OpenSession, Tensors } from './session.ts'

/** A graph to open: ONNX bytes and the files its initializers lie in, all in one folder. */
export interface SessionSource {
  readonly name: string
  readonly bytes: Uint8Array
  readonly files: readonly string[]
  /** Initializers that live in no file, by the name the graph gives their place. */
  readonly blobs?: readonly { readonly path: string; readonly data: Uint8Array }[]
}

/** The module, imported when the first session is opened: loading it costs tens of milliseconds and megabytes. */
export type OnnxRuntime = typeof import('onnxruntime-node')

/** Opens `source` in ONNX Runtime. Blocks the thread while the weights are read and arranged. */
export async function openOnnxSession(
  ort: OnnxRuntime,
  source: SessionSource,
  provider: Provider,
): Promise<OpenSession> {
  const folders = new Set(source.files.map(dirname))
  if (folders.size > 1) throw new WorkloadError('internal', `the weights of ${source.name} lie in several folders`)
  const [folder] = folders
  const options: InferenceSession.SessionOptions = {
    executionProviders: [provider.name === 'cuda' ? { name: 'cuda', deviceId: provider.device } : 'cpu'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: provider.threads,
    logSeverityLevel: 3,
    ...(source.blobs && { externalData: [...source.blobs] }),
    extra: {
      session: {
        // Idle threads of one session must not spin against the running ones of another.
        intra_op: { allow_spinning: '0' },
        set_denormal_as_zero: '1',
        ...(folder && { model_external_initializers_file_folder_path: folder }),
      },
    },
  }
  const session = await ort.InferenceSession.create(source.bytes, options).catch((cause: unknown) => {
    throw failure(`cannot open ${source.name}`, cause)
  })
  return {
    async run(feeds: Tensors) {
      const inputs = Object.entries(feeds).map(
        ([name, t]) => [name, new ort.Tensor('float32', t.data, t.dims)] as const,
      )
      const outputs = await session.run(Object.fromEntries(inputs)).catch((cause: unknown) => {
        throw failure(`${source.name} failed`, cause)
      })
      return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, fromOnnx(value)]))
    },
    release: () => session.release(),
  }
}

/** Graphs are written with float32 outputs, so anything else is a bug. */
function fromOnnx({ data, dims }: { readonly data: unknown; readonly dims: readonly number[] }): Tensor {
  if (!(data instanceof Float32Array)) throw new TypeError('an output is not float32')
  return tensor(dims, data)
}

/** Device and allocator failures get a code of their own: they pass when memory is freed. */
function failure(what: string, cause: unknown): WorkloadError {
  const text = messageOf(cause)
  const outOfMemory = /out of memory|failed to allocate|bad_alloc/i.test(text)
  return new WorkloadError(outOfMemory ? 'out-of-memory' : 'execution-failed', `${what}: ${text}`, { cause })
}
