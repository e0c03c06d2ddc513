import { link, named, optional, widget } from '../graph/node.ts'
import { float } from '../graph/widget.ts'
import { withControl } from './support/control.ts'
import { CONDITIONING, CONTROL_NET, defineNode, IMAGE, VAE } from './support/define.ts'

const share = (initial: number) => widget(float({ default: initial, min: 0, max: 1, step: 0.001 }))

export default defineNode({
  type: 'ControlNetApplyAdvanced',
  category: 'conditioning/controlnet',
  title: 'Steer by Picture',
  description: 'Lets a control network steer by a picture, for a part of the run.',
  inputs: {
    positive: link(CONDITIONING),
    negative: link(CONDITIONING),
    control_net: link(CONTROL_NET),
    image: link(IMAGE),
    strength: widget(float({ default: 1, min: 0, max: 10, step: 0.01 })),
    start_percent: share(0),
    end_percent: share(1),
    // For control networks that look at latents; those that are opened here look at pixels.
    vae: optional(link(VAE)),
  },
  outputs: [named(CONDITIONING, 'positive'), named(CONDITIONING, 'negative')],
  run({ positive, negative, control_net: control, image, strength, start_percent: start, end_percent: end }) {
    if (strength === 0) return [positive, negative]
    const settings = { control, image, strength, range: { start, end }, alsoNegative: false }
    const [one, other] = withControl([positive, negative], settings)
    return [one!, other!]
  },
})
