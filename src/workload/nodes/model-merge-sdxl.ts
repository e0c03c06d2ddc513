import { blockMerge, unetParts } from './support/block-merge.ts'

export default blockMerge({ type: 'ModelMergeSDXL', title: 'Mix SDXL Models by Block' }, unetParts(9, ''))
