import { widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import { type Catalogue, defineNode, SAMPLER } from './support/define.ts'

export default ({ samplers }: Catalogue) =>
  defineNode({
    type: 'KSamplerSelect',
    category: 'sampling/custom_sampling/samplers',
    module: 'comfy_extras.nodes_custom_sampler',
    title: 'Pick Sampler',
    description: 'One of the samplers, with the settings it has in the sampler node.',
    inputs: { sampler_name: widget(choice([...samplers.keys()])) },
    outputs: [SAMPLER],
    run: ({ sampler_name }) => [samplers.get(sampler_name)!], // validation has found it among them
  })
