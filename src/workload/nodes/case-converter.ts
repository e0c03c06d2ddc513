import { widget } from '../graph/node.ts'
import { choice, string } from '../graph/widget.ts'
import { defineNode, STRING } from './support/define.ts'
import { capitalized, titleCased } from './support/python-text.ts'

const MODES = {
  UPPERCASE: (text) => text.toUpperCase(),
  lowercase: (text) => text.toLowerCase(),
  Capitalize: capitalized,
  'Title Case': titleCased,
} as const satisfies Readonly<Record<string, (text: string) => string>>

export default defineNode({
  type: 'CaseConverter',
  category: 'utils/string',
  title: 'Large and Small Letters',
  description: 'Writes a text in large or small letters, or with large initials.',
  module: 'comfy_extras.nodes_string',
  inputs: {
    string: widget(string({ multiline: true })),
    mode: widget({ ...choice(['UPPERCASE', 'lowercase', 'Capitalize', 'Title Case']), named: true }),
  },
  outputs: [STRING],
  run: ({ string, mode }) => [MODES[mode](string)],
})
