import { visible } from './input-config.ts'
import type { Node } from './node.ts'

/** The inputs of `node` that name a file, and the folder each file is chosen from. */
export function fileInputsOf<Context>({ inputs }: Pick<Node<Context>, 'inputs'>): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  for (const [name, declared] of Object.entries(inputs)) {
    const input = visible(declared)
    if (input?.kind === 'widget' && input.widget.folder !== undefined) folders.set(name, input.widget.folder)
  }
  return folders
}
