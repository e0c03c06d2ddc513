import { type ChoicesOf, configOf, rememberChoices, visible } from './input-config.ts'
import type { Node, NodeRegistry } from './node.ts'

/** What `/object_info` tells of every node, by class type. */
export async function describe<Context>(registry: NodeRegistry<Context>): Promise<Record<string, unknown>> {
  const choicesOf = rememberChoices()
  const entries = [...registry].map(async ([type, node]) => [type, await describeNode(node, choicesOf)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** What `/object_info` tells of one node; limits beyond 2^53 are bigint. */
export async function describeNode<Context>(
  node: Node<Context>,
  choicesOf: ChoicesOf = rememberChoices(),
): Promise<Record<string, unknown>> {
  const declared = Object.entries(node.inputs)
  const group = async (kind: 'required' | 'optional') => {
    const configs: [string, unknown][] = []
    for (const [name, declaration] of declared) {
      const input = visible(declaration)
      if (input && (declaration.kind === 'optional') === (kind === 'optional')) {
        configs.push([name, await configOf(input, choicesOf)])
      }
    }
    return configs
  }
  const hidden = declared.flatMap(([name, input]) => (input.kind === 'hidden' ? [[name, input.of] as const] : []))
  const optional = await group('optional')
  const groups = {
    required: await group('required'),
    ...(optional.length > 0 && { optional }),
    ...(hidden.length > 0 && { hidden }),
  }
  const inGroups = (show: (entries: readonly (readonly [string, unknown])[]) => unknown) =>
    Object.fromEntries(Object.entries(groups).map(([name, entries]) => [name, show(entries)]))

  return {
    input: inGroups((entries) => Object.fromEntries(entries)),
    input_order: inGroups((entries) => entries.map(([name]) => name)),
    output: node.outputs.map(({ socket }) => socket.name),
    output_is_list: node.outputs.map(({ list }) => list),
    output_name: node.outputs.map(({ name }) => name),
    name: node.type,
    display_name: node.title,
    description: node.description,
    python_module: node.module,
    category: node.category,
    output_node: node.output,
    ...(node.deprecated && { deprecated: true }),
    ...(node.experimental && { experimental: true }),
  }
}
