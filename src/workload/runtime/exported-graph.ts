import type { Tensor } from '../tensor/tensor.ts'
import { type Declared, fromOnnx, toOnnx } from './element-types.ts'
import { createSession, declaredInputs, failure, type OnnxRuntime } from './onnx-session.ts'
import { chooseProvider, type ProviderChoice } from './provider.ts'

type OnnxTensor = InstanceType<OnnxRuntime['Tensor']>

/** What a graph gave, in the type that it has there: it can be fed to the next run as it is. */
export class Held {
  readonly #value: OnnxTensor

  constructor(value: OnnxTensor) {
    this.#value = value
  }

  get dims(): readonly number[] {
    return this.#value.dims
  }

  /** Its numbers as float32. */
  read(): Tensor {
    return fromOnnx(this.#value)
  }

  /** As ONNX Runtime takes it; for this room only. */
  get value(): OnnxTensor {
    return this.#value
  }
}

/** A graph whose inputs and outputs are told by the file, and whose rows nobody else shares. */
export interface ExportedGraph {
  /** What the inputs must be, by their names. */
  readonly inputs: ReadonlyMap<string, Declared>
  readonly outputs: readonly string[]
  /** The outputs that are `wanted` (all of them, if it is left out); what is not wanted may not even be computed. */
  run(
    feeds: Readonly<Record<string, Tensor | Held>>,
    wanted?: readonly string[],
  ): Promise<Readonly<Record<string, Held>>>
  release(): Promise<void>
}

/** Opens exported files on one device. Networks that make pictures go through `createRuntime` instead. */
export interface GraphOpener {
  open(name: string, path: string): Promise<ExportedGraph>
}

/** Loads ONNX Runtime and settles the provider. Throws `not-ready` when a demanded provider cannot be had. */
export async function createGraphOpener(choice: ProviderChoice, probe: Uint8Array): Promise<GraphOpener> {
  const ort = await import('onnxruntime-node')
  const provider = await chooseProvider(ort, choice, probe)
  return {
    async open(name, path) {
      const session = await createSession(ort, { name, path }, provider)
      const inputs = declaredInputs(session)
      return {
        inputs,
        outputs: session.outputNames,
        async run(feeds, wanted = session.outputNames) {
          const values = Object.entries(feeds).map(([input, feed]) => {
            const declared = inputs.get(input)
            const fits = feed instanceof Held && feed.value.type === declared?.type
            return [input, fits ? feed.value : toOnnx(ort, feed instanceof Held ? feed.read() : feed, declared)]
          })
          const outputs = await session.run(Object.fromEntries(values), wanted).catch((cause: unknown) => {
            throw failure(`${name} failed`, cause)
          })
          return Object.fromEntries(Object.entries(outputs).map(([output, value]) => [output, new Held(value)]))
        },
        release: () => session.release(),
      }
    },
  }
}
