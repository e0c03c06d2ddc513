import { blockMerge, unetParts } from './support/block-merge.ts'

export default blockMerge(
  { type: 'ModelMergeSD1', title: 'Mix Stable Diffusion 1 Models by Block' },
  unetParts(12, '.'),
)
