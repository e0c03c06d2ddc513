import { discover } from '../../base/discover.ts'
import type { Node, NodeRegistry } from '../../graph/node.ts'
import type { Catalogue, NodeCheck, NodeContext } from './define.ts'

/** Every node in the folder above, by its ComfyUI class type. */
export function loadNodes(catalogue: Catalogue): Promise<NodeRegistry<NodeContext, NodeCheck>> {
  const asNode = (exported: unknown): Node<NodeContext, NodeCheck> | undefined => {
    const node: unknown = typeof exported === 'function' ? exported(catalogue) : exported
    return typeof node === 'object' && node !== null && 'type' in node && 'run' in node
      ? (node as Node<NodeContext, NodeCheck>) // made by defineNode, which is the only way to have both
      : undefined
  }
  return discover(new URL('../', import.meta.url), asNode, ({ type }) => type)
}
