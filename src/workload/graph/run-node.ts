import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Outcome } from './cache.ts'
import { unwrap } from './coerce.ts'
import { visible } from './input-config.ts'
import { isLink } from './links.ts'
import type { HiddenValues, Input, Node, RunContext } from './node.ts'
import type { Literal } from './widget.ts'

/** Input name → the values that come over it one by one; an input that is left out is not there. */
export type Flows = ReadonlyMap<string, readonly unknown[]>

/** What flows into `node`: from a link the list in its source's slot, otherwise one value. */
export function flowsInto<Context>(
  node: Node<Context>,
  inputs: Readonly<Record<string, unknown>>,
  slotOf: (source: string, slot: number) => readonly unknown[],
  hidden: HiddenValues,
): Flows {
  const flows = new Map<string, readonly unknown[]>()
  for (const [name, declared] of Object.entries(node.inputs)) {
    const input = visible(declared)
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    if (declared.kind === 'hidden') flows.set(name, [hidden[declared.of]])
    else if (isLink(value)) flows.set(name, linked(input, slotOf(...value)))
    else if (input?.kind === 'widget' && value !== undefined) {
      // validation has coerced it, or left it to the node's own check
      flows.set(name, [input.widget.read(unwrap(value) as Literal)])
    } else if (value !== undefined && value !== null) flows.set(name, [unwrap(value)])
  }
  return flows
}

/** What a wire brings to a widget: one node's whole numbers are `number`, another's `bigint`, so the widget reads them. */
function linked(input: ReturnType<typeof visible>, values: readonly unknown[]): readonly unknown[] {
  if (input?.kind !== 'widget' || input.widget.type !== 'INT') return values
  return values.map((value) =>
    typeof value === 'number' || typeof value === 'bigint' ? input.widget.read(value) : value,
  )
}

/**
 * Calls `node` as often as its longest input is long: call i gets element i of every input, or its last one. An empty
 * list at an optional input leaves the input out; at any other there is nothing to work on, hence no call. A node that
 * takes lists is called once. Between calls other work gets its turn.
 */
export async function runNode<Context extends RunContext>(
  node: Node<Context>,
  flows: Flows,
  context: Context,
): Promise<Outcome> {
  const slots = node.outputs.map((): unknown[] => [])
  const artifacts: unknown[] = []
  for (const values of node.inputIsList ? [listsOf(node, flows)] : callsOf(node, flows)) {
    await nextTurn()
    context.signal.throwIfAborted()
    const result = await node.run(values, context)
    if (result.values.length !== slots.length) {
      throw new Error(`returned ${result.values.length} values for ${slots.length} outputs`)
    }
    for (const artifact of result.artifacts) artifacts.push(artifact)
    for (const [i, value] of result.values.entries()) {
      if (!node.outputs[i]!.list) slots[i]!.push(value)
      else if (Array.isArray(value)) for (const item of value) slots[i]!.push(item)
      else throw new Error(`returned no list for its output ${node.outputs[i]!.name}`)
    }
  }
  return { slots, artifacts }
}

function listsOf(node: Node<never>, flows: Flows): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(Object.keys(node.inputs).map((name) => [name, flows.get(name) ?? []]))
}

function* callsOf(node: Node<never>, flows: Flows): Iterable<Readonly<Record<string, unknown>>> {
  const needed = (name: string) => (node.inputs[name] as Input).kind !== 'optional'
  const lists = [...flows].filter(([name, list]) => list.length > 0 || needed(name))
  if (lists.some(([, list]) => list.length === 0)) return
  const calls = Math.max(1, ...lists.map(([, list]) => list.length))
  for (let i = 0; i < calls; i++) {
    yield Object.fromEntries(lists.map(([name, list]) => [name, list[Math.min(i, list.length - 1)]]))
  }
}
