import { widget } from '../../graph/node.ts'
import { boolean, string } from '../../graph/widget.ts'
import type { RegexFlags } from './python-regex.ts'

/** The inputs that every node with a regular expression begins with, and its flags. */
export const regexInputs = {
  string: widget(string({ multiline: true })),
  regex_pattern: widget(string({ multiline: true })),
}

/** Python's flags as inputs, in ComfyUI's order. */
export const regexFlags = {
  case_insensitive: widget(boolean({ default: true })),
  multiline: widget(boolean({ default: false })),
  dotall: widget(boolean({ default: false })),
}

/** The flags that these values of `regexFlags` stand for; what is absent has its default. */
export const flagsOf = (values: {
  readonly case_insensitive?: boolean | undefined
  readonly multiline?: boolean | undefined
  readonly dotall?: boolean | undefined
}): RegexFlags => ({
  ignoreCase: values.case_insensitive ?? true,
  multiline: values.multiline ?? false,
  dotAll: values.dotall ?? false,
})
