import { createHash } from 'node:crypto'
import type { Prompt } from '../../contracts/prompt.ts'
import { visible } from './input-config.ts'
import { isLink } from './links.ts'
import type { Input, Node, NodeRegistry } from './node.ts'

/** What the results of a prompt's nodes are known by. */
export interface Signing<Context> {
  readonly prompt: Prompt
  /** Ids of the nodes to sign, each after its sources. */
  readonly order: readonly string[]
  readonly registry: NodeRegistry<Context>
  /** Where nodes take their fingerprints. */
  readonly context: Context
}

/**
 * The key of every node's result: a SHA-256 in hex of its class, its fingerprint and its inputs, where a link stands as
 * the key and slot of its source. So neither ids nor the order of keys matter, and nodes with one key give one result.
 * A node whose fingerprint cannot be taken has none, nor have those that read from it: they always run.
 */
export async function sign<Context>({
  prompt,
  order,
  registry,
  context,
}: Signing<Context>): Promise<ReadonlyMap<string, string>> {
  const keys = new Map<string, string>()
  for (const id of order) {
    const { class_type, inputs } = prompt[id]!
    const node = registry.get(class_type)!
    try {
      const fingerprint = await fingerprintOf(node, inputs, context)
      const own = Object.values(node.inputs).some(isOwnId) ? id : undefined
      const content = declaredInputs(node, inputs).map(([name, value]) => [name, ...partsOf(value, keys)])
      const text = canonical([class_type, fingerprint, own, content])
      keys.set(id, createHash('sha256').update(text).digest('hex'))
    } catch {
      // No key says all there is to say: whatever is wrong shows when the node runs.
    }
  }
  return keys
}

/** The inputs that count, sorted by name; null stands for an input that is left out. */
function declaredInputs<Context>(node: Node<Context>, inputs: Prompt[string]['inputs']) {
  return Object.keys(node.inputs)
    .filter((name) => visible(node.inputs[name]!) && Object.hasOwn(inputs, name) && inputs[name] != null)
    .sort()
    .map((name) => [name, inputs[name]] as const)
}

function fingerprintOf<Context>(
  node: Node<Context>,
  inputs: Prompt[string]['inputs'],
  context: Context,
): Promise<string> | undefined {
  const literals = declaredInputs(node, inputs).filter(([, value]) => !isLink(value))
  return node.fingerprint?.(Object.fromEntries(literals), context)
}

function partsOf(value: unknown, keys: ReadonlyMap<string, string>): readonly unknown[] {
  if (!isLink(value)) return ['literal', value]
  const [source, slot] = value
  if (!keys.has(source)) throw new Error(`node ${source} has no key`)
  return ['link', keys.get(source), slot]
}

const isOwnId = (input: Input): boolean => input.kind === 'hidden' && input.of === 'UNIQUE_ID'

/** JSON with sorted keys that tells apart all that Python would: long integers from floats, -0, NaN and infinities. */
function canonical(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`
}
