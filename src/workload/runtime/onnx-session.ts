import type { InferenceSession } from 'onnxruntime-node'
import { isOutOfMemory, messageOf, WorkloadError } from '../base/errors.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { type Declared, fromOnnx, toOnnx } from './element-types.ts'
import { runEqualRows } from './equal-rows.ts'
import type { Provider } from './provider.ts'
import type { OpenSession, SharedTensors, Tensors } from './session.ts'

/** A graph to open: its ONNX bytes and the folder that the places of its initializers are told from. */
export interface SessionSource {
  readonly name: string
  readonly bytes: Uint8Array
  readonly folder?: string | undefined
  /** What inputs are when they are left out. */
  readonly defaults?: readonly (Tensor & { readonly name: string })[]
  /** Initializers that live in no file, by the name the graph gives their place. */
  readonly blobs?: readonly { readonly path: string; readonly data: Uint8Array }[]
}

/** A model that was exported to a file, with its external data beside it. */
export interface FileSource {
  readonly name: string
  readonly path: string
  /** Inputs that take one value for all rows; whoever runs the session gives them a value a row all the same. */
  readonly once?: readonly string[]
}

/** The module, imported when the first session is opened: loading it costs tens of milliseconds and megabytes. */
export type OnnxRuntime = typeof import('onnxruntime-node')

/** ONNX Runtime's own session of `source`, with what all sessions have in common. */
export async function createSession(
  ort: OnnxRuntime,
  source: SessionSource | FileSource,
  provider: Provider,
): Promise<InferenceSession> {
  const { model, blobs, folder } = modelOf(source)
  const options: InferenceSession.SessionOptions = {
    executionProviders: [provider.name === 'cuda' ? { name: 'cuda', deviceId: provider.device } : 'cpu'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: provider.threads,
    logSeverityLevel: 3,
    ...(blobs && { externalData: [...blobs] }),
    extra: {
      session: {
        // Idle threads of one session must not spin against the running ones of another.
        intra_op: { allow_spinning: '0' },
        set_denormal_as_zero: '1',
        ...(folder && { model_external_initializers_file_folder_path: folder }),
      },
    },
  }
  const opening =
    typeof model === 'string'
      ? ort.InferenceSession.create(model, options)
      : ort.InferenceSession.create(model, options)
  return opening.catch((cause: unknown) => {
    throw failure(`cannot open ${source.name}`, cause)
  })
}

/** Opens `source` in ONNX Runtime. Blocks the thread while the weights are read and arranged. */
export async function openOnnxSession(
  ort: OnnxRuntime,
  source: SessionSource | FileSource,
  provider: Provider,
): Promise<OpenSession> {
  const { defaults = [], once } = modelOf(source)
  const session = await createSession(ort, source, provider)
  const declared = declaredInputs(session)
  const missing = Object.fromEntries(defaults.map(({ name, ...t }) => [name, toOnnx(ort, t, declared.get(name))]))
  const run = async (feeds: Tensors, shared: SharedTensors = {}): Promise<Tensors> => {
    const inputs = Object.entries({ ...feeds, ...shared }).map(([name, t]) => {
      checkShape(source.name, name, t.dims, declared.get(name)?.shape)
      return [name, toOnnx(ort, t, declared.get(name))] as const
    })
    const outputs = await session.run({ ...missing, ...Object.fromEntries(inputs) }).catch((cause: unknown) => {
      throw failure(`${source.name} failed`, cause)
    })
    return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, fromOnnx(value)]))
  }
  return {
    run: (feeds, shared) => (once ? runEqualRows(feeds, once, run) : run(feeds, shared)),
    release: () => session.release(),
  }
}

interface Opened {
  readonly model: Uint8Array | string
  readonly blobs?: SessionSource['blobs']
  readonly defaults?: SessionSource['defaults']
  /** Where the initializers' files lie, if not beside the model. */
  readonly folder?: string | undefined
  readonly once?: readonly string[] | undefined
}

function modelOf(source: SessionSource | FileSource): Opened {
  if ('path' in source) return { model: source.path, once: source.once }
  const { bytes: model, ...rest } = source
  return { model, ...rest }
}

/** What the graph says of its inputs, by their names. */
export function declaredInputs({ inputMetadata }: InferenceSession): ReadonlyMap<string, Declared> {
  return new Map(
    inputMetadata.flatMap((input) =>
      input.isTensor ? [[input.name, { type: input.type, shape: input.shape }] as const] : [],
    ),
  )
}

/** What ONNX Runtime says of a wrong shape is for programmers; who wired a graph wants to know what does not belong together. */
function checkShape(graph: string, input: string, dims: readonly number[], wanted: Declared['shape'] = []): void {
  const fits = dims.length === wanted.length && wanted.every((side, i) => typeof side === 'string' || side === dims[i])
  if (fits || wanted.length === 0) return
  throw new WorkloadError(
    'execution-failed',
    `${graph} takes ${input} of ${wanted.map((side) => side || '?').join('×')}, not ${dims.join('×')}: were its inputs made with another kind of model?`,
  )
}

/** Device and allocator failures get a code of their own: they pass when memory is freed. */
export function failure(what: string, cause: unknown): WorkloadError {
  const text = messageOf(cause)
  return new WorkloadError(isOutOfMemory(cause) ? 'out-of-memory' : 'execution-failed', `${what}: ${text}`, { cause })
}
