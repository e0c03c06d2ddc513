import { widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, CONTROL_NET, defineNode } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'ControlNetLoader',
    category: 'loaders',
    title: 'Control Network',
    description: 'Opens a control network or a T2I adapter.',
    inputs: { control_net_name: widget(fileOf('controlnet', files)) },
    outputs: [CONTROL_NET],
    fingerprint: ({ control_net_name }, { models }) => models.version('controlnet', String(control_net_name)),
    run: async ({ control_net_name }, { models }) => [await models.controlNet(control_net_name)],
  })
