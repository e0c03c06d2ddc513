import {
  Emission,
  hidden,
  type Input,
  type Inputs,
  link,
  listOf,
  type Node,
  type NodeSpec,
  named,
  type Output,
  optional,
  type Socket,
  socket,
  widget,
} from '../../graph/node.ts'
import * as widgets from '../../graph/widget.ts'
import type { ImageArtifact } from '../../image/images.ts'
import { type Tensor, tensor } from '../../tensor/tensor.ts'
import type { Catalogue } from './define.ts'
import {
  CLIP,
  CONDITIONING,
  defineNode,
  IMAGE,
  LATENT,
  MASK,
  MODEL,
  type NodeCheck,
  type NodeContext,
  VAE,
} from './define.ts'

/** What a user's node file may export as a function of, so that it needs to import nothing of ours. */
export interface CustomNodeApi {
  readonly sockets: Readonly<Record<string, Socket<unknown>>>
  readonly widgets: Pick<
    typeof widgets,
    'int' | 'float' | 'string' | 'boolean' | 'seed' | 'choice' | 'listed' | 'fileOf'
  >
  readonly socket: typeof socket
  readonly link: typeof link
  readonly widget: typeof widget
  readonly optional: typeof optional
  readonly hidden: typeof hidden
  readonly named: typeof named
  readonly listOf: typeof listOf
  readonly tensor: typeof tensor
  readonly catalogue: Catalogue
}

const { int, float, string, boolean, seed, choice, listed, fileOf } = widgets
const literals = { INT: int, FLOAT: float, STRING: string, BOOLEAN: boolean, SEED: seed }

/**
 * The node that a user's file exports: a declaration, or a function of the API that returns one. Inputs and outputs may
 * be written short (`'IMAGE'`, `['a', 'b']`, `{ type: 'INT', default: 1 }`). Throws when the declaration is not one.
 */
export function customNode(exported: unknown, catalogue: Catalogue): Node<NodeContext, NodeCheck> {
  const spec: unknown = typeof exported === 'function' ? exported(apiOf(catalogue)) : exported
  if (!isRecord(spec)) throw new TypeError('must export a node, or a function that returns one, by default')
  if (typeof spec.type !== 'string' || spec.type === '') throw new TypeError('`type` must be a name')
  if (typeof spec.run !== 'function') throw new TypeError('`run` must be a function')
  if (!isRecord(spec.inputs)) throw new TypeError('`inputs` must be an object')
  if (!Array.isArray(spec.outputs)) throw new TypeError('`outputs` must be an array')
  const { run } = spec
  const declared = {
    category: 'custom',
    title: spec.type,
    module: 'custom_nodes',
    ...spec,
    inputs: Object.fromEntries(Object.entries(spec.inputs).map(([name, input]) => [name, inputOf(name, input)])),
    outputs: spec.outputs.map(outputOf),
    run: async (values: unknown, context: NodeContext) => withArtifacts(await run.call(spec, values, context)),
  }
  // What was checked above is all that graph code relies on; the rest is metadata.
  return defineNode(declared as unknown as NodeSpec<NodeContext, NodeCheck, Inputs, readonly Output<unknown>[]>)
}

const apiOf = (catalogue: Catalogue): CustomNodeApi => ({
  sockets: { MODEL, CLIP, VAE, CONDITIONING, LATENT, IMAGE, MASK },
  widgets: { int, float, string, boolean, seed, choice, listed, fileOf },
  socket,
  link,
  widget,
  optional,
  hidden,
  named,
  listOf,
  tensor,
  catalogue,
})

function inputOf(name: string, declared: unknown): Input {
  if (typeof declared === 'string') return link(socket(declared))
  if (Array.isArray(declared)) return widget(choice(declared as readonly widgets.Choice[]))
  if (!isRecord(declared)) throw new TypeError(`input ${name} must be a type, a list of choices or an object`)
  if ('kind' in declared) return declared as unknown as Input // made by the API
  const { type, choices, optional: mayBeAbsent, ...options } = declared
  const input = Array.isArray(choices)
    ? widget(choice(choices as readonly widgets.Choice[], options))
    : ofType(name, type, options)
  return mayBeAbsent === true ? optional<unknown>(input as never) : input
}

function ofType(name: string, type: unknown, options: Readonly<Record<string, unknown>>): Input {
  if (typeof type !== 'string') throw new TypeError(`input ${name} needs a \`type\``)
  const make = Object.hasOwn(literals, type) ? literals[type as keyof typeof literals] : undefined
  return make ? widget<unknown>(make(options)) : link(socket(type), options)
}

function outputOf(declared: unknown): Output<unknown> {
  if (typeof declared === 'string') return named(socket(declared), declared)
  if (!isRecord(declared)) throw new TypeError('an output must be a type or an object with a `type`')
  if ('socket' in declared) return declared as unknown as Output<unknown> // made by the API
  const type = declared.type ?? declared.name
  if (typeof type !== 'string') throw new TypeError('an output needs a `type`')
  const name = typeof declared.name === 'string' ? declared.name : type
  return declared.list === true ? listOf(socket(type), name) : named(socket(type), name)
}

/** `{ images: [{ pixels, prefix }], values }` hands pictures to the client; anything else is the output values. */
function withArtifacts(result: unknown): readonly unknown[] | Emission<readonly unknown[]> {
  if (isRecord(result) && Array.isArray(result.images)) {
    const artifacts = result.images.map(
      ({ pixels, prefix = 'custom', preview = false }: CustomImage): ImageArtifact => ({
        kind: 'image',
        pixels,
        prefix,
        retention: preview ? 'temp' : 'output',
      }),
    )
    return new Emission(artifacts, Array.isArray(result.values) ? result.values : [])
  }
  return Array.isArray(result) ? result : []
}

interface CustomImage {
  readonly pixels: Tensor
  readonly prefix?: string
  readonly preview?: boolean
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
