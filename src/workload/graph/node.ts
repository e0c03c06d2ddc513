import type { Prompt } from '../../contracts/prompt.ts'
import type { Widget } from './widget.ts'

/** The type of a wire between nodes, e.g. `LATENT`. `T` is what flows along it. */
export interface Socket<T> {
  readonly name: string
  /** Phantom: carries `T` for the compiler and is never set. */
  readonly _carries?: T
}

/** An input that must come from another node's output. */
export interface LinkInput<T> {
  readonly kind: 'link'
  readonly socket: Socket<T>
  readonly options: Readonly<Record<string, unknown>>
}

/** An input written in the prompt itself; a link from a node of the same type may replace it. */
export interface WidgetInput<T> {
  readonly kind: 'widget'
  readonly widget: Widget<T>
}

/** What the executor itself knows and a node may ask for (ComfyUI's hidden inputs). */
export interface HiddenValues {
  /** The whole prompt after coercion. */
  readonly PROMPT: Prompt
  /** The client's `extra_data.extra_pnginfo`. */
  readonly EXTRA_PNGINFO: Readonly<Record<string, unknown>> | undefined
  /** The node's own id; a node that asks for it shares its result with no other node. */
  readonly UNIQUE_ID: string
}

/** An input that no prompt writes: the executor fills it. */
export interface HiddenInput<T> {
  readonly kind: 'hidden'
  readonly of: keyof HiddenValues
  readonly _carries?: T
}

/** An input that may be absent; the node then gets `undefined`. */
export interface OptionalInput<T> {
  readonly kind: 'optional'
  readonly input: LinkInput<T> | WidgetInput<T>
}

export type Input = LinkInput<unknown> | WidgetInput<unknown> | HiddenInput<unknown> | OptionalInput<unknown>
export type Inputs = Readonly<Record<string, Input>>

/** One result of a node. */
export interface Output<T> {
  readonly socket: Socket<T>
  /** What editors call it; the socket's name unless the node has two of a kind. */
  readonly name: string
  /** True when a call returns a list whose entries flow on one by one (ComfyUI's OUTPUT_IS_LIST). */
  readonly list: boolean
}

type Carried<I> =
  I extends OptionalInput<infer T>
    ? T | undefined
    : I extends LinkInput<infer T> | WidgetInput<infer T> | HiddenInput<infer T>
      ? T
      : never
type Optional<I> = I extends OptionalInput<unknown> ? true : false
export type InputValues<I extends Inputs> = {
  readonly [K in keyof I as Optional<I[K]> extends true ? never : K]: Carried<I[K]>
} & { readonly [K in keyof I as Optional<I[K]> extends true ? K : never]?: Carried<I[K]> }
/** `INPUT_IS_LIST` nodes get every input as the list that flows along its wire. */
export type ListValues<I extends Inputs> = { readonly [K in keyof I]: readonly Carried<I[K]>[] }

type Wires = readonly (Socket<unknown> | Output<unknown>)[]
type Flows<W> = W extends { readonly socket: Socket<infer T>; readonly list: infer L }
  ? L extends true
    ? readonly T[]
    : T
  : W extends Socket<infer T>
    ? T
    : never
export type OutputValues<O extends Wires> = { readonly [K in keyof O]: Flows<O[K]> }

/** What running a graph gives every node; the host adds its own services. */
export interface RunContext {
  readonly signal: AbortSignal
  /**
   * Tells how far this node is, e.g. after each sampler step. `sketch` makes what it has so far visible for the host; it
   * is called at once and only if somebody looks.
   */
  progress(value: number, max: number, sketch?: () => unknown): void
}

/** The results of a node that ends a prompt: what it hands to the host for the client, beside its output values. */
export class Emission<Values> {
  readonly values: Values
  readonly artifacts: readonly unknown[]

  constructor(artifacts: readonly unknown[], values: Values) {
    this.artifacts = artifacts
    this.values = values
  }
}

/** For an output node's `run`: hands `artifacts` to the host. Kept with the node's result, so a cached node emits again. */
export const emit = (artifacts: readonly unknown[]): Emission<[]> => new Emission(artifacts, [])

/** What a node declares. `Context` is the host's; `Check` is what validation may ask of the host. */
export interface NodeSpec<Context, Check, I extends Inputs, O extends Wires, L extends boolean = false> {
  /** ComfyUI's class type. */
  readonly type: string
  readonly category: string
  /** What editors show; our own words. */
  readonly title: string
  readonly description?: string
  /** Upstream's module, which editors use to group nodes; `nodes` by default. */
  readonly module?: string
  readonly inputs: I
  readonly outputs: O
  /** True when a prompt may end here. */
  readonly output?: boolean
  readonly inputIsList?: L
  readonly deprecated?: boolean
  readonly experimental?: boolean
  /**
   * Validates literals that no widget can judge alone (ComfyUI's VALIDATE_INPUTS). `names` are the inputs it answers
   * for, which skips their bounds and choices; it returns what is wrong, or undefined.
   */
  readonly validate?: {
    readonly names: readonly string[]
    check(literals: Readonly<Record<string, unknown>>, host: Check): Promise<string | undefined>
  }
  /** What the result depends on beside the inputs, e.g. a file's hash (ComfyUI's IS_CHANGED). Gets literals only. */
  fingerprint?(literals: Readonly<Record<string, unknown>>, context: Context): Promise<string>
  run(
    values: L extends true ? ListValues<I> : InputValues<I>,
    context: Context,
  ): OutputValues<O> | Emission<OutputValues<O>> | Promise<OutputValues<O> | Emission<OutputValues<O>>>
}

/** What one call of a node gave. */
export interface NodeResult {
  /** One entry an output. */
  readonly values: readonly unknown[]
  readonly artifacts: readonly unknown[]
}

/** A node with its input types forgotten, as the graph and the registry see it. */
export interface Node<Context, Check = unknown> {
  readonly type: string
  readonly category: string
  readonly title: string
  readonly description: string
  readonly module: string
  readonly inputs: Inputs
  readonly outputs: readonly Output<unknown>[]
  readonly output: boolean
  readonly inputIsList: boolean
  readonly deprecated: boolean
  readonly experimental: boolean
  readonly validate?: NodeSpec<Context, Check, Inputs, Wires>['validate']
  readonly fingerprint?: NodeSpec<Context, Check, Inputs, Wires>['fingerprint']
  run(values: Readonly<Record<string, unknown>>, context: Context): Promise<NodeResult>
}

/** The nodes that may appear in a prompt, by class type. */
export type NodeRegistry<Context, Check = unknown> = ReadonlyMap<string, Node<Context, Check>>

/** Makes the type of a wire. */
export const socket = <T>(name: string): Socket<T> => Object.freeze({ name })

/** An input that must come from a wire of type `from`. */
export const link = <T>(from: Socket<T>, options: Readonly<Record<string, unknown>> = {}): LinkInput<T> =>
  Object.freeze({ kind: 'link', socket: from, options })

/** An input written in the prompt itself. */
export const widget = <T>(of: Widget<T>): WidgetInput<T> => Object.freeze({ kind: 'widget', widget: of })

/** An input that may be left out. */
export const optional = <T>(input: LinkInput<T> | WidgetInput<T>): OptionalInput<T> =>
  Object.freeze({ kind: 'optional', input })

/** An input that the executor fills. */
export const hidden = <K extends keyof HiddenValues>(of: K): HiddenInput<HiddenValues[K]> =>
  Object.freeze({ kind: 'hidden', of })

/** An output under a name of its own. */
export const named = <T>(of: Socket<T>, name: string) => Object.freeze({ socket: of, name, list: false as const })

/** An output that is a list. */
export const listOf = <T>(of: Socket<T>, name: string = of.name) =>
  Object.freeze({ socket: of, name, list: true as const })

const asOutput = (wire: Socket<unknown> | Output<unknown>): Output<unknown> =>
  'socket' in wire ? wire : { socket: wire, name: wire.name, list: false }

/** Makes a `defineNode` for hosts whose nodes run in `Context` and are validated with `Check`. */
export function nodeFactory<Context extends RunContext, Check>() {
  return <const I extends Inputs, const O extends Wires, L extends boolean = false>(
    spec: NodeSpec<Context, Check, I, O, L>,
  ): Node<Context, Check> =>
    Object.freeze({
      description: '',
      module: 'nodes',
      ...spec,
      outputs: spec.outputs.map(asOutput),
      output: spec.output ?? false,
      inputIsList: spec.inputIsList ?? false,
      deprecated: spec.deprecated ?? false,
      experimental: spec.experimental ?? false,
      async run(values: Readonly<Record<string, unknown>>, context: Context) {
        // The prompt has been validated against `spec.inputs`, so the erased types are true here.
        const result: unknown = await spec.run(values as never, context)
        return result instanceof Emission
          ? { values: result.values as readonly unknown[], artifacts: result.artifacts }
          : { values: result as readonly unknown[], artifacts: [] }
      },
    })
}
