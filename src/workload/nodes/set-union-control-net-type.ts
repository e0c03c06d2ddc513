import { link, widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { CONTROL_NET, defineNode } from './support/define.ts'

/** What a union network's hint may be, in the order of its numbers. */
const kinds = [
  'openpose',
  'depth',
  'hed/pidi/scribble/ted',
  'canny/lineart/anime_lineart/mlsd',
  'normal',
  'segment',
  'tile',
  'repaint',
] as const

export default defineNode({
  type: 'SetUnionControlNetType',
  module: 'comfy_extras.nodes_controlnet',
  category: 'conditioning/controlnet',
  title: 'Kind of Steering Picture',
  description: 'Tells a control network for several kinds of pictures which kind it is given.',
  inputs: { control_net: link(CONTROL_NET), type: widget(choice(['auto', ...kinds])) },
  outputs: [CONTROL_NET],
  run({ control_net, type }) {
    const kind = type === 'auto' ? undefined : kinds.indexOf(type)
    // Networks for one kind of picture pay no heed, upstream as here.
    return [control_net.ofKind?.(kind) ?? control_net]
  },
})
