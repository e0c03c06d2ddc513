import type { Input, LinkInput, WidgetInput } from './node.ts'
import type { Choice, Widget } from './widget.ts'

/** How `/object_info` and fault texts declare an input: a type or a list of choices, and the options. */
export type InputConfig = readonly [type: string | readonly Choice[], options: Readonly<Record<string, unknown>>]

/** Tells the choices of a combo; undefined when it declares none. */
export type ChoicesOf = (widget: Widget<unknown>) => Promise<readonly Choice[] | undefined>

/** Asks every widget for its choices once, so that one validation or one listing sees one state of the folders. */
export function rememberChoices(): ChoicesOf {
  const known = new Map<Widget<unknown>, ReturnType<ChoicesOf>>()
  return (widget) => {
    const choices = known.get(widget) ?? Promise.resolve(widget.choices?.())
    known.set(widget, choices)
    return choices
  }
}

/** The link or widget that an input is, whether or not it may be absent; undefined for a hidden one. */
export function visible(input: Input): LinkInput<unknown> | WidgetInput<unknown> | undefined {
  if (input.kind === 'hidden') return undefined
  return input.kind === 'optional' ? input.input : input
}

/** The declaration of `input` with its choices at this moment. */
export async function configOf(
  input: LinkInput<unknown> | WidgetInput<unknown>,
  choicesOf: ChoicesOf,
): Promise<InputConfig> {
  if (input.kind === 'link') return [input.socket.name, input.options]
  const { type, options, named } = input.widget
  const choices = type === 'COMBO' ? await choicesOf(input.widget) : undefined
  if (choices === undefined) return [type, options]
  if (!named) return [choices, options]
  const multiselect = 'multiselect' in options ? options.multiselect : false // undefined: upstream does not say
  return [type, { ...options, multiselect, options: choices }]
}
