import type { Prompt } from '../../contracts/prompt.ts'
import { PythonError } from './coerce.ts'
import { pythonRepr, pythonType } from './python-repr.ts'

/** How a prompt writes that an input comes from another node: its id and which of its outputs, counted from 0. */
export type Link = readonly [node: string, slot: number]

/** Whether an input of a validated prompt is a link; one that is wrapped in `__value__` is a literal. */
export function isLink(value: unknown): value is Link {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && Number.isInteger(value[1])
}

/** The id of the node that `[id, slot]` names; throws what Python throws when the prompt has no such key. */
export function sourceOf(id: unknown, prompt: ReadonlyMap<string, unknown>): string {
  if (typeof id === 'object' && id !== null) throw new PythonError('TypeError', `unhashable type: '${pythonType(id)}'`)
  if (typeof id !== 'string' || !prompt.has(id)) throw new PythonError('KeyError', pythonRepr(id))
  return id
}

/** The index that `slot` means among `count` outputs: negative ones count from the end, as in Python. */
export function slotOf(slot: unknown, count: number): number {
  const type = pythonType(slot)
  if (type !== 'int' && type !== 'bool') {
    throw new PythonError('TypeError', `tuple indices must be integers or slices, not ${type}`)
  }
  const index = Number(slot) < 0 ? Number(slot) + count : Number(slot)
  if (index < 0 || index >= count) throw new PythonError('IndexError', 'tuple index out of range')
  return index
}

/**
 * Whether a wire of type `from` fits an input of type `to`: both may list several types, separated by commas, of which
 * one must agree; `*` agrees with all. A combo that is declared by its choices has no name, so only `*` fits it.
 */
export function fits(from: string, to: string | readonly unknown[]): boolean {
  if (from === to) return true
  const offered = typesIn(from)
  const wanted = typeof to === 'string' ? typesIn(to) : []
  return offered.includes('*') || wanted.includes('*') || offered.some((type) => wanted.includes(type))
}

/** The links among the inputs called `names` of node `id` of a validated prompt. */
export function linksOf(prompt: Prompt, id: string, names: Iterable<string>): readonly Link[] {
  const { inputs } = prompt[id]!
  return [...names].flatMap((name) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    return isLink(value) ? [value] : []
  })
}

const typesIn = (list: string): readonly string[] => list.split(',').map((type) => type.trim())
