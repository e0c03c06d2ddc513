import type { NodeFault } from '../../contracts/problem.ts'
import type { PromptNode } from '../../contracts/prompt.ts'
import { pythonFloat } from '../base/python-number.ts'
import type { InputConfig } from './input-config.ts'
import { pythonRepr, pythonStr } from './python-repr.ts'
import type { WidgetType } from './widget.ts'

/** Longer lists of choices are counted, not shown. */
const MAX_SHOWN_CHOICES = 20
/** How many nodes of a cycle a fault names: every node of a long cycle would repeat all of it. */
const MAX_SHOWN_CYCLE = 16

const fault = (
  type: string,
  message: string,
  details: string,
  extra_info: Readonly<Record<string, unknown>> = {},
): NodeFault => ({ type, message, details, extra_info })

export const noOutputs = (): NodeFault => fault('prompt_no_outputs', 'Prompt has no outputs', '')

/** No output can run; `reasons` are the faults of the outputs themselves, not of what they need. */
export const outputsFailed = (reasons: readonly NodeFault[]): NodeFault =>
  fault(
    'prompt_outputs_failed_validation',
    'Prompt outputs failed validation',
    reasons.map(({ message, details }) => `${message}: ${details}`).join('\n'),
  )

/** `absence` says why a class is not here that other servers have; without it nobody here knows the class. */
export function missingNodeType(id: string, { class_type, _meta }: PromptNode, absence?: string): NodeFault {
  const reason = absence
    ? `This server does not offer ${class_type}: ${absence}.`
    : 'The custom node may not be installed.'
  const extra = { node_id: id, class_type, node_title: _meta?.title ?? null }
  return fault(
    'missing_node_type',
    `Node '${_meta?.title || class_type}' not found. ${reason}`,
    `Node ID '#${id}'`,
    extra,
  )
}

export const requiredInputMissing = (name: string): NodeFault =>
  fault('required_input_missing', 'Required input is missing', name, { input_name: name })

export const badLinkedInput = (name: string, input_config: InputConfig, received_value: unknown): NodeFault =>
  fault('bad_linked_input', 'Bad linked input, must be a length-2 list of [node_id, slot_index]', name, {
    input_name: name,
    input_config,
    received_value,
  })

export function returnTypeMismatch(name: string, config: InputConfig, received: string, link: unknown): NodeFault {
  const details = `${name}, received_type(${received}) mismatch input_type(${pythonStr(config[0])})`
  return fault('return_type_mismatch', 'Return type mismatch between linked nodes', details, {
    input_name: name,
    input_config: config,
    received_type: received,
    linked_node: link,
  })
}

export function invalidInputType(
  name: string,
  type: WidgetType,
  config: InputConfig,
  received: unknown,
  exception: string,
): NodeFault {
  const details = `${name}, ${pythonStr(received)}, ${exception}`
  return fault('invalid_input_type', `Failed to convert an input value to a ${type} value`, details, {
    input_name: name,
    input_config: config,
    received_value: received,
    exception_message: exception,
  })
}

/** `bound` is the limit that `value` breaks, on the side `side`; FLOAT inputs print both as Python floats. */
export function outOfBounds(
  side: 'min' | 'max',
  name: string,
  config: InputConfig,
  value: number | bigint,
  bound: number | bigint,
): NodeFault {
  const print = (number: number | bigint) => (config[0] === 'FLOAT' ? pythonFloat(Number(number)) : String(number))
  const [type, relation] = side === 'min' ? ['value_smaller_than_min', 'smaller'] : ['value_bigger_than_max', 'bigger']
  return fault(type, `Value ${print(value)} ${relation} than ${side} of ${print(bound)}`, name, {
    input_name: name,
    input_config: config,
    received_value: value,
  })
}

export function valueNotInList(
  name: string,
  config: InputConfig,
  received: unknown,
  wrong: readonly unknown[],
  choices: readonly unknown[],
): NodeFault {
  const short = choices.length <= MAX_SHOWN_CHOICES
  const list = short ? pythonRepr(choices) : `(list of length ${choices.length})`
  return fault(
    'value_not_in_list',
    'Value not in list',
    `${name}: ${wrong.map(pythonRepr).join(', ')} not in ${list}`,
    {
      input_name: name,
      input_config: short ? config : null,
      received_value: received,
    },
  )
}

export const customValidationFailed = (name: string, reason: string): NodeFault =>
  fault('custom_validation_failed', 'Custom validation failed for node', reason ? `${name} - ${reason}` : name, {
    input_name: name,
  })

/** The input through which validation reached the node where something was thrown. */
export interface Via {
  readonly name: string
  readonly config: InputConfig
  readonly link: unknown
}

/** Something was thrown while a node was checked; without `via` that node is the output itself. */
export function exceptionDuringValidation(error: unknown, via?: Via): NodeFault {
  const [exception_type, message] = error instanceof Error ? [error.name, error.message] : ['Exception', String(error)]
  if (via === undefined) {
    const extra = { exception_type, traceback: [] }
    return fault('exception_during_validation', 'Exception when validating node', message, extra)
  }
  return fault('exception_during_inner_validation', 'Exception when validating inner node', message, {
    input_name: via.name,
    input_config: via.config,
    exception_message: message,
    exception_type,
    traceback: [],
    linked_node: via.link,
  })
}

/** A way through the graph that comes back to where it began: each node once, the first one being where it closes. */
export interface Cycle {
  readonly details: string
  readonly nodes: readonly string[]
}

/** The cycle that the nodes of `path` from index `from` on make. */
export function cycleThrough(path: readonly { readonly id: string; readonly node: { type: string } }[], from: number) {
  const hidden = path.length - from - MAX_SHOWN_CYCLE
  const half = MAX_SHOWN_CYCLE / 2
  const names = (part: typeof path) => part.map(({ id, node }) => `${id} (${node.type})`)
  const shown = path.slice(from, from + MAX_SHOWN_CYCLE)
  const way =
    hidden > 0 ? [...names(shown.slice(0, half)), `${hidden} more`, ...names(path.slice(-half))] : names(shown)
  return { details: [...way, way[0]].join(' -> '), nodes: shown.map(({ id }) => id) }
}

export const dependencyCycle = (id: string, { details, nodes }: Cycle): NodeFault =>
  fault('dependency_cycle', 'Dependency cycle detected', details, { node_id: id, cycle_nodes: nodes })
