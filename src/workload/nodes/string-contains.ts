import { named, widget } from '../graph/node.ts'
import { boolean, string } from '../graph/widget.ts'
import { BOOLEAN, defineNode } from './support/define.ts'

const text = widget(string({ multiline: true }))

export default defineNode({
  type: 'StringContains',
  category: 'utils/string',
  title: 'Text Contains',
  description: 'Tells whether a text stands in another.',
  module: 'comfy_extras.nodes_string',
  inputs: { string: text, substring: text, case_sensitive: widget(boolean({ default: true })) },
  outputs: [named(BOOLEAN, 'contains')],
  run: ({ string, substring, case_sensitive }) => [
    case_sensitive ? string.includes(substring) : string.toLowerCase().includes(substring.toLowerCase()),
  ],
})
