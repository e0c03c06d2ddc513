import { widget } from '../graph/node.ts'
import { choice, int } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'
import { flagsOf, regexFlags, regexInputs } from './support/regex-inputs.ts'
import { type Found, findAll } from './support/regex-run.ts'

/** What each mode takes of all matches; `group` counts from 1, 0 is the whole match. */
const MODES = {
  'First Match': ([first]) => first?.groups[0],
  'All Matches': (all) => all.map(({ groups }) => groups[groups.length > 1 ? 1 : 0] ?? '').join('\n'),
  'First Group': ([first], group) => first?.groups[group],
  'All Groups': (all, group) =>
    all
      .filter(({ groups }) => group < groups.length)
      .map(({ groups }) => groups[group] ?? '')
      .join('\n'),
} as const satisfies Readonly<Record<string, (all: readonly Found[], group: number) => string | undefined>>

export default defineNode({
  type: 'RegexExtract',
  category: 'utils/string',
  title: 'Extract by Pattern',
  description: "Takes out of a text what a regular expression in Python's syntax finds; nothing when it is invalid.",
  module: 'comfy_extras.nodes_string',
  inputs: {
    ...regexInputs,
    mode: widget({ ...choice(['First Match', 'All Matches', 'First Group', 'All Groups']), named: true }),
    ...regexFlags,
    group_index: widget(int({ default: 1, min: 0, max: 100 })),
  },
  outputs: [STRING],
  run({ string, regex_pattern, mode, group_index, ...flags }) {
    const count = mode.startsWith('First') ? 1 : 0
    const found = findAll(regex_pattern, string, flagsOf(flags), count) ?? []
    return [MODES[mode](found, group_index) ?? '']
  },
})
