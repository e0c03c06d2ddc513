import type { NetworkMeasure } from '../base/network-measure.ts'
import { rowsOf } from '../tensor/rows.ts'
import { createBatchedSession } from './batching.ts'
import { type FileSource, openOnnxSession, type SessionSource } from './onnx-session.ts'
import { chooseProvider, type Provider, type ProviderChoice } from './provider.ts'
import { createResidency } from './residency.ts'
import type { Session } from './session.ts'

export interface RuntimeOptions extends ProviderChoice {
  /** Weights kept open, in bytes as they are stored; least recently used sessions go first. 0: no limit. */
  readonly maxBytes: number
  /** Rows of one run at most; longer calls go alone. */
  readonly maxBatch: number
  /** The bytes of a graph with one operator, to try a provider with. */
  readonly probe: Uint8Array
  /** Told before and after every call that blocks the thread. */
  onBlocking?(phase: 'begin' | 'end'): void
  /** Told what happens to networks. */
  onMeasure?(measure: NetworkMeasure): void
}

/** A graph that is built, or a file that is found, and opened when it is first run. */
export interface LazySource {
  /** Equal keys are one session. */
  readonly key: string
  /** What the weights occupy in their files. */
  readonly weightBytes: number
  /** A name for all sessions that are the same network changed in different ways: few of them stay open. */
  readonly variantOf?: string | undefined
  /** The kind of model it belongs to, for counting. */
  readonly family?: string
  /** Whether a run of it is a step of a sampler. */
  readonly isStep?: boolean
  build(): Promise<SessionSource | FileSource>
}

/** Opens and runs graphs on one device. */
export interface Runtime {
  readonly provider: Provider
  /** A session that opens at its first run and again if it was released since to make room. */
  session(source: LazySource): Session
  /** Gives back the memory of all sessions that nobody uses at this moment; each opens again at its next run. */
  releaseIdle(): Promise<void>
}

/** Loads ONNX Runtime and settles the provider. Throws `not-ready` when a demanded provider cannot be had. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const ort = await import('onnxruntime-node')
  const provider = await chooseProvider(ort, options, options.probe)
  const buckets = batchBuckets(provider.name, options.maxBatch)
  const residency = createResidency(options.maxBytes)
  const sessions = new Map<string, Session>()
  const blocking = async <T>(work: () => Promise<T>): Promise<T> => {
    options.onBlocking?.('begin')
    try {
      return await work()
    } finally {
      options.onBlocking?.('end')
    }
  }

  return {
    provider,
    releaseIdle: residency.releaseIdle,
    session({ key, weightBytes: bytes, variantOf, family = 'other', isStep = false, build }) {
      const known = sessions.get(key)
      if (known) return known
      const open = async () => {
        const began = performance.now()
        const source = await build()
        const opened = await blocking(() => openOnnxSession(ort, source, provider))
        options.onMeasure?.({ kind: 'opened', family, seconds: secondsSince(began), bytes })
        const release = () => opened.release().then(() => options.onMeasure?.({ kind: 'released', family, bytes }))
        return { ...opened, release }
      }
      const run: Session['run'] = (feeds, shared) =>
        residency.use({ key, bytes, variantOf }, open, async (opened) => {
          const began = performance.now()
          const outputs = await blocking(() => opened.run(feeds, shared))
          const rows = rowsOf(Object.values(feeds)[0]!)
          if (isStep) options.onMeasure?.({ kind: 'stepped', family, seconds: secondsSince(began), rows })
          return outputs
        })
      const session = createBatchedSession({ run }, buckets)
      sessions.set(key, session)
      return session
    },
  }
}

/**
 * Batch sizes that runs are padded to. On CUDA every new size costs a search for convolution algorithms, so there are
 * few; on the CPU a padded row costs as much as a real one, so there is every size.
 */
function batchBuckets(provider: Provider['name'], maxBatch: number): readonly number[] {
  const sizes = Array.from({ length: maxBatch }, (_, i) => i + 1)
  return provider === 'cpu' ? sizes : sizes.filter((size) => Number.isInteger(Math.log2(size)) || size === maxBatch)
}

/** `began` is of `performance.now`. */
const secondsSince = (began: number): number => (performance.now() - began) / 1000
