import { modelMerge } from './support/merge.ts'

export default modelMerge(
  { type: 'ModelMergeAdd', title: 'Add Models', description: 'Adds the weights of the second model to the first.' },
  { strength: 1 },
)
