import type { NodeFault } from '../../contracts/problem.ts'
import type { PromptNode } from '../../contracts/prompt.ts'
import { messageOf } from '../base/errors.ts'
import {
  badLinkedInput,
  type Cycle,
  customValidationFailed,
  cycleThrough,
  dependencyCycle,
  exceptionDuringValidation,
  requiredInputMissing,
  returnTypeMismatch,
} from './faults.ts'
import { configOf, rememberChoices, visible } from './input-config.ts'
import { fits, isLink, slotOf, sourceOf } from './links.ts'
import { readLiteral } from './literal.ts'
import type { Input, LinkInput, Node, NodeRegistry, WidgetInput } from './node.ts'
import { pythonRepr } from './python-repr.ts'
import type { Located } from './report.ts'

type Declared = LinkInput<unknown> | WidgetInput<unknown>

/** A node whose inputs and ancestors have all been checked. */
export interface Inspected {
  readonly id: string
  /** Its own faults; a node with none may still be unable to run because of its ancestors. */
  readonly faults: readonly Located[]
  /** The inputs after coercion. */
  readonly inputs: PromptNode['inputs']
}

/** Checks nodes together with all they need, each once. */
export interface Inspector {
  /** Whether node `output` can run. */
  inspect(output: string): Promise<boolean>
  /** All nodes checked so far, each after its ancestors. */
  readonly inspected: readonly Inspected[]
}

/** A cycle that closes at the node which lies `depth` steps below the output. */
interface Loop {
  readonly depth: number
  readonly cycle: Cycle
}

/** A node that is being checked; what it reads from comes between two of its inputs. */
interface Visit<Context, Check> {
  readonly id: string
  readonly node: Node<Context, Check>
  readonly given: PromptNode['inputs']
  readonly taken: Record<string, unknown>
  readonly declared: readonly (readonly [string, Input])[]
  /** The input that led here; none to the output itself. */
  readonly via: { readonly name: string; readonly input: Declared; readonly link: unknown } | undefined
  readonly faults: Located[]
  /** Literals that could be read. */
  readonly literals: Record<string, unknown>
  next: number
  ancestorsRun: boolean
  /** The widest cycle that one of its ancestors closed. */
  loop: Loop | undefined
}

/**
 * An inspector of one prompt, whose nodes are `nodes`; `missing` holds the fault of each that is of no known class. It
 * walks without recursion: prompts may be thousands deep. `assumed` are names of files that will be there.
 */
export function createInspector<Context, Check>(
  nodes: ReadonlyMap<string, PromptNode>,
  registry: NodeRegistry<Context, Check>,
  host: Check,
  missing: ReadonlyMap<string, NodeFault>,
  assumed: ReadonlySet<string>,
): Inspector {
  type Step = Visit<Context, Check>
  const choicesOf = rememberChoices()
  const runs = new Map<string, boolean>()
  const inspected: Inspected[] = []
  const classOf = (id: string) => nodes.get(id)!.class_type
  /** From the output down to the node that is being checked. */
  const path: Step[] = []
  const depths = new Map<string, number>()

  const enter = (id: string, node: Node<Context, Check>, via?: Step['via']): void => {
    const given = nodes.get(id)!.inputs
    const declared = Object.entries(node.inputs)
    depths.set(id, path.length)
    const fresh = { taken: { ...given }, faults: [], literals: {}, next: 0, ancestorsRun: true, loop: undefined }
    path.push({ id, node, given, declared, via, ...fresh })
  }

  const settle = (id: string, inputs: PromptNode['inputs'], run: boolean, faults: readonly Located[]): void => {
    runs.set(id, run)
    inspected.push({ id, faults, inputs })
  }

  const blame = async ({ via, faults }: Step, error: unknown, input?: string, text = messageOf(error)) => {
    // the choices of the input that led here may be what cannot be read
    const config = via && (await configOf(via.input, choicesOf).catch(() => ['COMBO', {}] as const))
    const fault = exceptionDuringValidation(error, via && { name: via.name, config: config!, link: via.link })
    faults.push({ fault, text, ...(input === undefined ? {} : { input }) })
  }

  const follow = async (visit: Step, name: string, input: Declared, link: readonly unknown[]): Promise<void> => {
    let source: string
    try {
      source = sourceOf(link[0], nodes)
    } catch (error) {
      return blame(visit, error, name, `There is no node ${pythonRepr(link[0])} to read from`)
    }
    const node = registry.get(classOf(source))
    if (node === undefined) {
      if (!runs.has(source)) settle(source, nodes.get(source)!.inputs, false, [{ fault: missing.get(source)! }])
      visit.ancestorsRun = false
      return
    }
    let slot: number | undefined
    try {
      slot = slotOf(link[1], node.outputs.length)
    } catch (error) {
      await blame(visit, error, name, `Node ${source} (${node.type}) has no output ${pythonRepr(link[1])}`)
    }
    if (slot !== undefined) {
      visit.taken[name] = [source, slot]
      const received = node.outputs[slot]!.socket.name
      const config = await configOf(input, choicesOf)
      if (!fits(received, config[0])) {
        visit.faults.push({ fault: returnTypeMismatch(name, config, received, link), input: name })
      }
    }
    const depth = depths.get(source)
    if (runs.has(source)) visit.ancestorsRun &&= runs.get(source)!
    else if (depth === undefined) enter(source, node, { name, input, link })
    else {
      const cycle = cycleThrough(path, depth)
      visit.faults.push({ fault: dependencyCycle(visit.id, cycle) })
      const above = path.at(-2)
      if (above && depth < path.length - 1) above.loop = widest(above.loop, { depth, cycle })
    }
  }

  const examine = async (visit: Step, name: string, declaration: Input): Promise<void> => {
    const input = visible(declaration)
    if (input === undefined) return
    const { given, taken, faults, literals, node } = visit
    const value = Object.hasOwn(given, name) ? given[name] : undefined
    const optional = declaration.kind === 'optional'
    if (value === undefined) {
      if (!optional) faults.push({ fault: requiredInputMissing(name), input: name })
    } else if (Array.isArray(value)) {
      if (value.length === 2) await follow(visit, name, input, value)
      else faults.push({ fault: badLinkedInput(name, await configOf(input, choicesOf), value), input: name })
    } else if (value !== null || input.kind === 'widget' || !optional) {
      const trusted = (node.validate?.names.includes(name) ?? false) || namesFile(input, value, assumed)
      const reading = await readLiteral(name, input, value, trusted, choicesOf)
      taken[name] = isLink(reading.value) ? value : reading.value // still wrapped, it cannot be taken for a link
      if (reading.fault) faults.push({ fault: reading.fault, input: name })
      else literals[name] = reading.value
    }
  }

  /** Asks the node itself about the literals that only it can judge. */
  const ask = async ({ node, given, literals, faults }: Step): Promise<void> => {
    const names = node.validate?.names.filter((name) => Object.hasOwn(given, name)) ?? []
    const asked = names.filter((name) => Object.hasOwn(literals, name))
    if (asked.length === 0) return
    const reason = await node.validate!.check(Object.fromEntries(asked.map((name) => [name, literals[name]])), host)
    if (reason === undefined) return
    for (const name of names) faults.push({ fault: customValidationFailed(name, reason), input: name })
  }

  const leave = (visit: Step): void => {
    const { id, faults, taken, loop } = visit
    path.pop()
    depths.delete(id)
    if (loop) faults.unshift({ fault: dependencyCycle(id, loop.cycle) })
    const run = visit.ancestorsRun && faults.length === 0
    settle(id, taken, run, faults)
    const above = path.at(-1)
    if (above === undefined) return
    above.ancestorsRun &&= run
    if (loop && loop.depth < path.length) above.loop = widest(above.loop, loop)
  }

  return {
    inspected,
    async inspect(output) {
      if (!runs.has(output)) enter(output, registry.get(classOf(output))!)
      for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
        const [name, input] = visit.declared[visit.next++] ?? []
        try {
          if (name !== undefined && input !== undefined) await examine(visit, name, input)
          else await ask(visit)
        } catch (error) {
          await blame(visit, error, name)
        }
        if (input === undefined) leave(visit)
      }
      return runs.get(output)!
    },
  }
}

const namesFile = (input: Declared, value: unknown, files: ReadonlySet<string>): boolean =>
  input.kind === 'widget' && input.widget.folder !== undefined && typeof value === 'string' && files.has(value)

const widest = (a: Loop | undefined, b: Loop): Loop => (a && a.depth <= b.depth ? a : b)
