import { blockMerge, unetParts } from './support/block-merge.ts'

export default blockMerge(
  { type: 'ModelMergeSD2', title: 'Mix Stable Diffusion 2 Models by Block' },
  unetParts(12, '.'),
)
