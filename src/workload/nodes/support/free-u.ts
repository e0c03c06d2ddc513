import { link, widget } from '../../graph/node.ts'
import { float } from '../../graph/widget.ts'
import { defineNode, MODEL } from './define.ts'

/** A version of FreeU as a node, with its usual strengths of the features. */
interface FreeUVersion {
  readonly type: string
  readonly title: string
  readonly version: 1 | 2
  readonly b1: number
  readonly b2: number
}

const strength = (initial: number) => widget(float({ default: initial, min: 0, max: 10, step: 0.01 }))

/** The node of one version of FreeU. */
export const freeUNode = ({ type, title, version, b1, b2 }: FreeUVersion) =>
  defineNode({
    type,
    module: 'comfy_extras.nodes_freelunch',
    category: 'model_patches/unet',
    title,
    description: 'Strengthens what the decoder of a UNet sees and weakens the low frequencies of its skip connections.',
    inputs: { model: link(MODEL), b1: strength(b1), b2: strength(b2), s1: strength(0.9), s2: strength(0.2) },
    outputs: [MODEL],
    run: ({ model, ...strengths }) => [
      { ...model, network: model.network.altered({ kind: 'freeU', version, ...strengths }) },
    ],
  })
