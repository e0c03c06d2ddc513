import type { Prompt } from '../../contracts/prompt.ts'
import { visible } from './input-config.ts'
import { type Link, linksOf } from './links.ts'
import type { NodeRegistry } from './node.ts'

/** What a validated prompt runs. */
export interface Plan {
  /** The outputs and all they need, each after its sources; an output comes as soon as all it needs has come. */
  readonly order: readonly string[]
  /** Node → the links among its declared inputs. */
  readonly links: ReadonlyMap<string, readonly Link[]>
}

/** Plans a prompt that `validate` has passed. Walks without recursion: prompts may be thousands of nodes deep. */
export function plan<Context>(prompt: Prompt, outputs: readonly string[], registry: NodeRegistry<Context>): Plan {
  const order: string[] = []
  const links = new Map<string, readonly Link[]>()
  const path: { readonly id: string; readonly sources: readonly Link[]; next: number }[] = []

  const enter = (id: string): void => {
    if (links.has(id)) return
    const declared = Object.entries(registry.get(prompt[id]!.class_type)!.inputs)
    const names = declared.filter(([, input]) => visible(input)).map(([name]) => name)
    const sources = linksOf(prompt, id, names)
    links.set(id, sources)
    path.push({ id, sources, next: 0 })
  }

  for (const output of outputs) {
    enter(output)
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      const source = node.sources[node.next++]
      if (source !== undefined) enter(source[0])
      else {
        order.push(node.id)
        path.pop()
      }
    }
  }
  return { order, links }
}
