import { widget } from '../graph/node.ts'
import { int, string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'
import { sliced } from './support/python-text.ts'

export default defineNode({
  type: 'StringSubstring',
  category: 'utils/string',
  title: 'Part of Text',
  description: 'Takes the characters from a start up to but not including an end; below nought counts from the end.',
  module: 'comfy_extras.nodes_string',
  inputs: { string: widget(string({ multiline: true })), start: widget(int({})), end: widget(int({})) },
  outputs: [STRING],
  run: ({ string, start, end }) => [sliced(string, start, end)],
})
