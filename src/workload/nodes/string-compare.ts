import { widget } from '../graph/node.ts'
import { boolean, choice, string } from '../graph/widget.ts'
import { BOOLEAN, defineNode } from './support/define.ts'

const MODES = {
  'Starts With': (a, b) => a.startsWith(b),
  'Ends With': (a, b) => a.endsWith(b),
  Equal: (a, b) => a === b,
} as const satisfies Readonly<Record<string, (a: string, b: string) => boolean>>

const text = widget(string({ multiline: true }))

export default defineNode({
  type: 'StringCompare',
  category: 'utils/string',
  title: 'Compare Texts',
  description: 'Tells whether a text begins with, ends with or equals another.',
  module: 'comfy_extras.nodes_string',
  inputs: {
    string_a: text,
    string_b: text,
    mode: widget({ ...choice(['Starts With', 'Ends With', 'Equal']), named: true }),
    case_sensitive: widget(boolean({ default: true })),
  },
  outputs: [BOOLEAN],
  run({ string_a, string_b, mode, case_sensitive }) {
    const [a, b] = case_sensitive ? [string_a, string_b] : [string_a.toLowerCase(), string_b.toLowerCase()]
    return [MODES[mode](a, b)]
  },
})
