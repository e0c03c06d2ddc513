import { widget } from '../graph/node.ts'
import { string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'

const text = widget(string({ multiline: true }))

export default defineNode({
  type: 'StringReplace',
  category: 'utils/string',
  title: 'Replace in Text',
  description: 'Replaces every occurrence of a text in another.',
  module: 'comfy_extras.nodes_string',
  inputs: { string: text, find: text, replace: text },
  outputs: [STRING],
  run({ string, find, replace }) {
    // Nothing is found between all characters, which must not come between the halves of one.
    if (find === '') return [['', ...Array.from(string), ''].join(replace)]
    return [string.split(find).join(replace)]
  },
})
