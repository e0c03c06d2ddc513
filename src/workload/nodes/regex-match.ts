import { named } from '../graph/node.ts'
import { BOOLEAN, defineNode } from './support/define.ts'
import { flagsOf, regexFlags, regexInputs } from './support/regex-inputs.ts'
import { findAll } from './support/regex-run.ts'

export default defineNode({
  type: 'RegexMatch',
  category: 'utils/string',
  title: 'Text Matches Pattern',
  description: "Tells whether a regular expression in Python's syntax is found in a text; an invalid one never is.",
  module: 'comfy_extras.nodes_string',
  inputs: { ...regexInputs, ...regexFlags },
  outputs: [named(BOOLEAN, 'matches')],
  run({ string, regex_pattern, ...flags }) {
    return [(findAll(regex_pattern, string, flagsOf(flags), 1)?.length ?? 0) > 0]
  },
})
