import { attentionMultiply } from './support/merge.ts'

export default attentionMultiply(
  {
    type: 'UNetCrossAttentionMultiply',
    title: 'Multiply Cross-Attention',
    description: 'Multiplies the projections with which the pixels of a picture attend to the text.',
  },
  'attn2',
)
