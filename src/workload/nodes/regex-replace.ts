import { optional, widget } from '../graph/node.ts'
import { int, string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'
import { expandTemplate } from './support/python-template.ts'
import { flagsOf, regexFlags, regexInputs } from './support/regex-inputs.ts'
import { findAll } from './support/regex-run.ts'

export default defineNode({
  type: 'RegexReplace',
  category: 'utils/string',
  title: 'Replace by Pattern',
  description: "Replaces what a regular expression in Python's syntax finds; the replacement may name groups.",
  module: 'comfy_extras.nodes_string',
  inputs: {
    ...regexInputs,
    replace: widget(string({ multiline: true })),
    case_insensitive: optional(regexFlags.case_insensitive),
    multiline: optional(regexFlags.multiline),
    dotall: optional(regexFlags.dotall),
    count: optional(widget(int({ default: 0, min: 0, max: 100 }))),
  },
  outputs: [STRING],
  run({ string, regex_pattern, replace, count = 0, ...flags }) {
    const found = findAll(regex_pattern, string, flagsOf(flags), count)
    if (found === undefined) throw new Error(`"${regex_pattern}" is no valid regular expression`)
    let result = ''
    let end = 0
    for (const match of found) {
      result += string.slice(end, match.index) + expandTemplate(replace, match)
      end = match.index + match.groups[0]!.length
    }
    return [result + string.slice(end)]
  },
})
