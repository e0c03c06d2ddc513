import { widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'

const text = widget(string({ multiline: true }))

export default defineNode({
  type: 'StringConcatenate',
  category: 'utils/string',
  title: 'Join Texts',
  description: 'Puts two texts one behind the other, with a delimiter between them.',
  module: 'comfy_extras.nodes_string',
  inputs: { string_a: text, string_b: text, delimiter: widget(string({ default: '', multiline: false })) },
  outputs: [STRING],
  run: ({ string_a, string_b, delimiter }) => [`${string_a}${delimiter}${string_b}`],
})
