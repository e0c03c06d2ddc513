import { attentionMultiply } from './support/merge.ts'

export default attentionMultiply(
  {
    type: 'UNetSelfAttentionMultiply',
    title: 'Multiply Self-Attention',
    description: 'Multiplies the projections with which the pixels of a picture attend to one another.',
  },
  'attn1',
)
