import { pathToFileURL } from 'node:url'
import { discover } from '../../base/discover.ts'
import type { Node, NodeRegistry } from '../../graph/node.ts'
import { customNode } from './custom.ts'
import type { Catalogue, NodeCheck, NodeContext } from './define.ts'

/** Every node in the folder above, by its ComfyUI class type, and those of the user in `customFolder`. */
export async function loadNodes(
  catalogue: Catalogue,
  customFolder?: string,
): Promise<NodeRegistry<NodeContext, NodeCheck>> {
  const asNode = (exported: unknown): Node<NodeContext, NodeCheck> | undefined => {
    const node: unknown = typeof exported === 'function' ? exported(catalogue) : exported
    return typeof node === 'object' && node !== null && 'type' in node && 'run' in node
      ? (node as Node<NodeContext, NodeCheck>) // made by defineNode, which is the only way to have both
      : undefined
  }
  const typeOf = ({ type }: Node<NodeContext, NodeCheck>) => type
  const nodes = await discover(new URL('../', import.meta.url), asNode, typeOf)
  if (customFolder === undefined) return nodes
  const folder = pathToFileURL(`${customFolder}/`)
  return discover(folder, (exported) => customNode(exported, catalogue), typeOf, nodes)
}
