import { link, widget } from '../graph/node.ts'
import { fileOf } from '../graph/widget.ts'
import { type Catalogue, CONTROL_NET, defineNode, MODEL } from './support/define.ts'

export default ({ files }: Catalogue) =>
  defineNode({
    type: 'DiffControlNetLoader',
    category: 'loaders',
    title: 'Control Network with Model',
    description: 'Opens a control network that holds all its weights; the model is for those that hold differences.',
    inputs: { model: link(MODEL), control_net_name: widget(fileOf('controlnet', files)) },
    outputs: [CONTROL_NET],
    fingerprint: ({ control_net_name }, { models }) => models.version('controlnet', String(control_net_name)),
    // Files of differences are refused when they are opened, so what is opened never needs the model.
    run: async ({ control_net_name }, { models }) => [await models.controlNet(control_net_name)],
  })
