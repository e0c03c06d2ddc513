import type { NodeErrors } from '../../contracts/problem.ts'
import type { Prompt } from '../../contracts/prompt.ts'
import { WorkloadError } from '../base/errors.ts'
import { missingNodeType, noOutputs } from './faults.ts'
import { createInspector, type Inspected } from './inspect.ts'
import type { NodeRegistry } from './node.ts'
import { type Finding, invalidGraph, nodeErrorsOf } from './report.ts'

/** A prompt of which at least one output can run. */
export interface Validated {
  /** The prompt with its literals coerced and its slots counted from 0; the client's object stays as it was. */
  readonly prompt: Prompt
  /** Ids of the output nodes that can run, in the order of the prompt. */
  readonly outputs: readonly string[]
  /** What is wrong with the outputs that cannot, and with what they need. */
  readonly nodeErrors: NodeErrors
}

/** More nodes than anybody draws; a list of their faults could fill the memory. */
const MAX_NODES = 20_000
/** How many outputs a fault lists as its victims. */
const MAX_DEPENDENTS = 100

/**
 * Checks `prompt` against the declarations of its nodes and coerces its literals as ComfyUI does. Outputs that cannot
 * run are dropped. Throws `no-output-node` if there is none, and `invalid-graph` with all faults of all nodes if none
 * can run or a node is of no known class: then nothing runs. `host` is what nodes may ask while they are checked;
 * `absent` says why classes are not in the registry that a client may expect there; with `targets` no other outputs
 * count; names in `assumed` are files, whatever the choices say.
 */
export async function validate<Context, Check>(
  prompt: Prompt,
  registry: NodeRegistry<Context, Check>,
  host: Check,
  absent: ReadonlyMap<string, string> = new Map(),
  targets?: readonly string[],
  assumed: ReadonlySet<string> = new Set(),
): Promise<Validated> {
  const nodes = new Map(Object.entries(prompt))
  if (nodes.size > MAX_NODES) {
    throw new WorkloadError('invalid-graph', `The prompt has ${nodes.size} nodes; ${MAX_NODES} are the most`)
  }
  const missing = new Map(
    [...nodes]
      .filter(([, { class_type }]) => !registry.has(class_type))
      .map(([id, node]) => [id, missingNodeType(id, node, absent.get(node.class_type))]),
  )
  const wanted = targets && new Set(targets)
  const outputs = [...nodes.keys()].filter(
    (id) => registry.get(nodes.get(id)!.class_type)?.output && (!wanted || wanted.has(id)),
  )
  if (outputs.length === 0 && missing.size === 0) {
    const fault = noOutputs()
    throw new WorkloadError('no-output-node', fault.message, { graphFault: fault, location: 'prompt' })
  }

  const { inspect, inspected } = createInspector(nodes, registry, host, missing, assumed)
  const good: string[] = []
  const failed: string[] = []
  /** Node → how many outputs had failed before it was found faulty. */
  const found = new Map<Inspected, number>()
  let reported = 0
  for (const output of outputs) {
    if (await inspect(output)) good.push(output)
    else {
      for (const node of inspected.slice(reported)) if (node.faults.length > 0) found.set(node, failed.length)
      reported = inspected.length
      failed.push(output)
    }
  }

  const findings = new Map<string, Finding>(
    [...missing].map(([id, fault]) => [id, { faults: [{ fault }], dependents: [] }]),
  )
  for (const [{ id, faults }, before] of found) {
    findings.set(id, { faults, dependents: failed.slice(before, before + MAX_DEPENDENTS) })
  }
  if (good.length === 0 || missing.size > 0) throw invalidGraph(prompt, findings, outputs)

  const inputsOf = new Map(inspected.map(({ id, inputs }) => [id, inputs]))
  const coerced = [...nodes].map(([id, node]) => [id, { ...node, inputs: inputsOf.get(id) ?? node.inputs }] as const)
  return { prompt: Object.fromEntries(coerced), outputs: good, nodeErrors: nodeErrorsOf(prompt, findings) }
}
