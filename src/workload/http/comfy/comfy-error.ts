import type { NodeErrors, NodeFault } from '../../../contracts/problem.ts'
import type { Prompt } from '../../../contracts/prompt.ts'
import type { WorkloadError } from '../../base/errors.ts'

/** How ComfyUI tells that a prompt was refused. */
export interface ComfyError {
  readonly error: NodeFault
  readonly node_errors: NodeErrors
}

/** A refusal in ComfyUI's own words where it has some; faults of single inputs become faults of their nodes. */
export function comfyErrorOf({ code, message, facts }: WorkloadError, prompt: unknown): ComfyError {
  const node_errors = facts.nodeErrors ?? inputFaults(facts.errors ?? {}, prompt)
  if (facts.graphFault) return { error: facts.graphFault, node_errors }
  const ofInputs = facts.nodeErrors === undefined && Object.keys(node_errors).length > 0
  return {
    error: ofInputs
      ? {
          type: 'prompt_outputs_failed_validation',
          message: 'Prompt outputs failed validation',
          details: message,
          extra_info: {},
        }
      : { type: code.replaceAll('-', '_'), message, details: '', extra_info: {} },
    node_errors,
  }
}

/** Faults that stand at `prompt.<node>.inputs.<name>`. */
function inputFaults(errors: Readonly<Record<string, string[]>>, prompt: unknown): NodeErrors {
  const found: NodeErrors = Object.create(null)
  for (const [location, texts] of Object.entries(errors)) {
    const [, node, name] = /^prompt\.(.+)\.inputs\.([^.]+)$/.exec(location) ?? []
    if (node === undefined || name === undefined) continue
    found[node] ??= { errors: [], dependent_outputs: [], class_type: classOf(prompt, node) }
    for (const text of texts)
      found[node].errors.push({
        type: 'custom_validation_failed',
        message: 'Custom validation failed for node',
        details: `${name} - ${text}`,
        extra_info: { input_name: name },
      })
  }
  return found
}

function classOf(prompt: unknown, node: string): string | null {
  const found =
    typeof prompt === 'object' && prompt !== null ? (prompt as Partial<Prompt>)[node]?.class_type : undefined
  return typeof found === 'string' ? found : null
}
