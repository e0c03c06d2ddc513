import type { Prompt } from '../../contracts/prompt.ts'
import type { WorkloadError } from '../base/errors.ts'

/** The names of Python's own exceptions, which clients of ComfyUI look for. */
const exceptions: Readonly<Record<string, string>> = { 'out-of-memory': 'MemoryError', 'timed-out': 'TimeoutError' }

/** What `execution_error` tells of a prompt that failed at `node`, if it was at a node; `executed` are those before it. */
export function errorDetails(
  { code, message }: WorkloadError,
  node: string | undefined,
  prompt: Prompt,
  executed: readonly string[],
): Readonly<Record<string, unknown>> {
  const { class_type, inputs = {} } = (node === undefined ? undefined : prompt[node]) ?? {}
  const literals = Object.entries(inputs).filter(([, value]) => !Array.isArray(value))
  return {
    node_id: node ?? null,
    node_type: class_type ?? null,
    executed,
    // The node has a field of its own here.
    exception_message: message.replace(`Node ${node} (${class_type}): `, ''),
    exception_type: exceptions[code] ?? 'RuntimeError',
    traceback: [],
    current_inputs: Object.fromEntries(literals.map(([name, value]) => [name, [value]])),
    current_outputs: executed,
  }
}
