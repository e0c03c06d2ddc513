import type { NodeFault } from '../../contracts/problem.ts'
import { coerce, pythonEqual, unwrap } from './coerce.ts'
import { badLinkedInput, invalidInputType, outOfBounds, valueNotInList } from './faults.ts'
import { type ChoicesOf, configOf } from './input-config.ts'
import type { LinkInput, WidgetInput } from './node.ts'

/** What became of a literal. */
export interface Reading {
  /** What the node is to get, coerced as far as that was possible. */
  readonly value: unknown
  readonly fault?: NodeFault | undefined
}

/**
 * Reads the literal `raw` of an input: coerces it to the declared type, then checks bounds and choices, unless the
 * node answers for them itself (`trusted`).
 */
export async function readLiteral(
  name: string,
  input: LinkInput<unknown> | WidgetInput<unknown>,
  raw: unknown,
  trusted: boolean,
  choicesOf: ChoicesOf,
): Promise<Reading> {
  if (input.kind === 'link') return readForWire(name, input, raw, choicesOf)
  const { type, options } = input.widget
  const value = unwrap(raw)
  if (type === 'COMBO') return trusted ? { value } : readChoice(name, input, value, choicesOf)
  const config = () => configOf(input, choicesOf)

  let literal: ReturnType<typeof coerce>
  try {
    literal = coerce(type, value)
  } catch (error) {
    // `coerce` throws nothing but PythonError
    return { value, fault: invalidInputType(name, type, await config(), value, (error as Error).message) }
  }
  if (trusted || (typeof literal !== 'number' && typeof literal !== 'bigint')) return { value: literal }
  const { min, max } = options
  if (min !== undefined && literal < min) {
    return { value: literal, fault: outOfBounds('min', name, await config(), literal, min) }
  }
  if (max !== undefined && literal > max) {
    return { value: literal, fault: outOfBounds('max', name, await config(), literal, max) }
  }
  return { value: literal }
}

/**
 * Only a wire of any type (`*`) may be replaced by a literal. ComfyUI lets it pass everywhere and the node then fails;
 * here the fault is told before anything runs.
 */
async function readForWire(
  name: string,
  input: LinkInput<unknown>,
  raw: unknown,
  choicesOf: ChoicesOf,
): Promise<Reading> {
  if (input.socket.name !== '*') {
    return { value: raw, fault: badLinkedInput(name, await configOf(input, choicesOf), raw) }
  }
  return { value: unwrap(raw) }
}

/** The choice itself takes the place of a value that equals it. A combo without choices takes anything. */
async function readChoice(
  name: string,
  input: WidgetInput<unknown>,
  value: unknown,
  choicesOf: ChoicesOf,
): Promise<Reading> {
  const choices = await choicesOf(input.widget)
  if (choices === undefined) return { value }
  const chosen = (literal: unknown) => choices.find((choice) => pythonEqual(literal, choice))
  const several = input.widget.options.multiselect === true && Array.isArray(value)
  const wrong = (several ? value : [value]).filter((literal: unknown) => chosen(literal) === undefined)
  if (wrong.length === 0) return { value: several ? value.map(chosen) : chosen(value) }
  return { value, fault: valueNotInList(name, await configOf(input, choicesOf), value, wrong, choices) }
}
