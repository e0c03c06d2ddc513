import type { NodeErrors, NodeFault } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { outputsFailed } from './faults.ts'

/** A fault and where it lies. */
export interface Located {
  readonly fault: NodeFault
  /** The input that is to blame, if one alone is. */
  readonly input?: string
  /** What to tell people where ComfyUI's own words do not say it. */
  readonly text?: string
}

/** All that is wrong with one node, and which outputs that costs. */
export interface Finding {
  readonly faults: readonly Located[]
  readonly dependents: readonly string[]
}

/** A sentence is read by people, who are not helped by a whole picture in base64. */
const MAX_SENTENCE = 400

/** ComfyUI's `node_errors` of `findings`, in the order of the prompt. */
export function nodeErrorsOf(prompt: Prompt, findings: ReadonlyMap<string, Finding>): NodeErrors {
  return Object.fromEntries(
    inOrderOf(prompt, findings).map(([id, { faults, dependents }]) => [
      id,
      {
        errors: faults.map(({ fault }) => fault),
        dependent_outputs: [...dependents],
        class_type: prompt[id]!.class_type,
      },
    ]),
  )
}

/** The error of a prompt of which nothing can run: its sentence tells the first fault, its facts all of them. */
export function invalidGraph(
  prompt: Prompt,
  findings: ReadonlyMap<string, Finding>,
  outputs: readonly string[],
): WorkloadError {
  const all = inOrderOf(prompt, findings).flatMap(([id, { faults }]) => faults.map((located) => ({ id, ...located })))
  const texts = new Map<string, string[]>()
  for (const located of all) {
    const location = locationOf(located.id, located)
    texts.set(location, [...(texts.get(location) ?? []), textOf(located)])
  }
  const missing = all.find(({ fault }) => fault.type === 'missing_node_type')
  const direct = outputs.flatMap((id) => findings.get(id)?.faults.map(({ fault }) => fault) ?? [])
  return new WorkloadError('invalid-graph', sentenceOf(prompt, all), {
    nodeErrors: nodeErrorsOf(prompt, findings),
    graphFault: missing?.fault ?? outputsFailed(direct),
    errors: Object.fromEntries(texts),
    location: [...texts.keys()][0],
  })
}

function inOrderOf(prompt: Prompt, findings: ReadonlyMap<string, Finding>): readonly [string, Finding][] {
  return Object.keys(prompt).flatMap((id) => {
    const finding = findings.get(id)
    return finding ? [[id, finding] as [string, Finding]] : []
  })
}

function locationOf(id: string, { input, fault }: Located): string {
  if (input !== undefined) return `prompt.${id}.inputs.${input}`
  return fault.type === 'missing_node_type' ? `prompt.${id}.class_type` : `prompt.${id}`
}

function textOf({ fault: { type, message, details }, input, text }: Located): string {
  if (text !== undefined) return text
  return details === input || type === 'missing_node_type' ? message : `${message}: ${details}`
}

function sentenceOf(prompt: Prompt, all: readonly (Located & { readonly id: string })[]): string {
  const [first, ...others] = all
  if (first === undefined) return 'Prompt outputs failed validation'
  const { id, input } = first
  const where = `Node ${id} (${prompt[id]!.class_type}${input === undefined ? '' : `, ${input}`})`
  const text = `${where}: ${textOf(first)}`
  const short = text.length > MAX_SENTENCE ? `${text.slice(0, MAX_SENTENCE)}…` : text
  if (others.length === 0) return short
  return `${short} (and ${others.length} more ${others.length === 1 ? 'fault' : 'faults'})`
}
