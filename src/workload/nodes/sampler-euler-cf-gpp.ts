import { widget } from '../graph/node.ts'
import { choice } from '../graph/widget.ts'
import eulerCfgPp from '../sampling/samplers/euler-cfg-pp.ts'
import { alternativeCfgPpEuler } from '../sampling/solvers/cfg-pp-euler.ts'
import { defineNode, SAMPLER } from './support/define.ts'

export default defineNode({
  type: 'SamplerEulerCFGpp',
  category: '_for_testing',
  module: 'comfy_extras.nodes_advanced_samplers',
  title: 'Euler CFG++',
  description: 'Euler steps of CFG++, in either of two forms.',
  inputs: { version: widget({ ...choice(['regular', 'alternative']), named: true }) },
  outputs: [SAMPLER],
  experimental: true,
  run: ({ version }) => [version === 'regular' ? eulerCfgPp : alternativeCfgPpEuler('euler_cfg_pp_alternative')],
})
