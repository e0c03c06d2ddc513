import { widget } from '../graph/node.ts'
import { choice, string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'
import { stripped } from './support/python-text.ts'

export default defineNode({
  type: 'StringTrim',
  category: 'utils/string',
  title: 'Trim Text',
  description: 'Takes the space off the begin or the end of a text, or off both.',
  module: 'comfy_extras.nodes_string',
  inputs: {
    string: widget(string({ multiline: true })),
    mode: widget({ ...choice(['Both', 'Left', 'Right']), named: true }),
  },
  outputs: [STRING],
  run: ({ string, mode }) => [stripped(string, mode)],
})
