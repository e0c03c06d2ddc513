import { clipMerge } from './support/merge.ts'

export default clipMerge(
  {
    type: 'CLIPMergeAdd',
    title: 'Add Text Encoders',
    description: 'Adds the weights of the second text encoder to the first.',
  },
  { strength: 1 },
)
