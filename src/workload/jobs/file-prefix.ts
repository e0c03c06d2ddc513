import type { Prompt, PromptNode } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { checkPrefix } from '../image/file-names.ts'

const prefixOf = ({ inputs }: PromptNode): unknown => inputs.filename_prefix

/** Whether a node that ends a prompt saves its pictures; previews have no prefix. A prefix may come from a link. */
export const saves = (node: PromptNode | undefined): boolean => {
  const prefix = node && prefixOf(node)
  return Array.isArray(prefix) || (typeof prefix === 'string' && prefix !== '')
}

/** Throws `path-not-allowed` when a prefix would lead out of the job's folder, naming every such prefix. */
export function checkPrefixes(prompt: Prompt): void {
  const errors: Record<string, string[]> = {}
  for (const [id, node] of Object.entries(prompt)) {
    const prefix = prefixOf(node)
    const fault = typeof prefix === 'string' && checkPrefix(prefix)
    if (fault) errors[`prompt.${id}.inputs.filename_prefix`] = [fault]
  }
  const [location] = Object.keys(errors)
  if (location === undefined) return
  throw new WorkloadError('path-not-allowed', `${location} ${errors[location]![0]}`, { location, errors })
}

/** The prompt as it is told to the client: prefixes as its files are called, `<id>_<prefix>` or just `<id>`. */
export function withFileNames(prompt: Prompt, id: string, prependId: boolean): Prompt {
  const renamed = (node: PromptNode): PromptNode => {
    const prefix = prefixOf(node)
    if (typeof prefix !== 'string' || prefix === '') return node
    return { ...node, inputs: { ...node.inputs, filename_prefix: prependId ? `${id}_${prefix}` : id } }
  }
  return Object.fromEntries(Object.entries(prompt).map(([node, of]) => [node, renamed(of)]))
}
