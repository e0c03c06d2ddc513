/** Longer prompts are told node by node, or what is sent would grow with the square of their length. */
const MOST_TOLD = 256

/** How far one node is, as `progress_state` tells it. */
interface NodeState {
  readonly value: number
  readonly max: number
  readonly state: 'running' | 'finished' | 'error'
  readonly node_id: string
  readonly prompt_id: string
  readonly display_node_id: string
  readonly parent_node_id: null
  readonly real_node_id: string
}

/** How far the nodes of one run are. */
export interface NodeStates {
  set(node: string, value: number, max: number, state: NodeState['state']): void
  clear(): void
  /** All nodes that have begun, by id; of long prompts only the node that `changed`. */
  told(changed: string): Readonly<Record<string, NodeState>>
}

/** Of a run in which no node has begun. */
export function createNodeStates(prompt_id: string): NodeStates {
  const states = new Map<string, NodeState>()
  return {
    set(node, value, max, state) {
      const names = { node_id: node, prompt_id, display_node_id: node, parent_node_id: null, real_node_id: node }
      states.set(node, { value, max, state, ...names })
    },
    clear: () => states.clear(),
    told: (changed) =>
      Object.fromEntries(states.size > MOST_TOLD ? [[changed, states.get(changed)!] as const] : states),
  }
}
