import { float } from '../onnx/attributes.ts'
import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'
import { pixelUnshuffle } from './pixel-shuffle.ts'

const CHANNELS = 3

/** The sizes of an enlarging network, read from the shapes of its weights. */
export interface UpscalerConfig {
  /** How many times larger each side becomes. */
  readonly scale: number
  /** Sides of the picture it is given are multiples of this many pixels. */
  readonly multiple: number
}

/** How often the network doubles the sides. */
const doublings = (view: WeightView): number => {
  let count = 0
  while (view.has(`conv_up${count + 1}.weight`)) count++
  return count
}

/** Reads the sizes, or undefined when the network is for other pictures than those of three channels. */
export function readEsrganConfig(view: WeightView): UpscalerConfig | undefined {
  const [, seen = 0] = view.get('conv_first.weight').dims
  const multiple = Math.sqrt(seen / CHANNELS)
  const scale = 2 ** doublings(view) / multiple
  const [given] = view.get('conv_last.weight').dims
  return given === CHANNELS && [1, 2, 4].includes(multiple) ? { scale, multiple } : undefined
}

/**
 * ESRGAN and Real-ESRGAN (Wang et al., 2018 and 2021): `pixels` `[N, 3, H, W]`, 0 to 1 → `enlarged`
 * `[N, 3, H·scale, W·scale]`. Names are those of Real-ESRGAN. Networks that enlarge little are given the pixels of
 * small squares as channels.
 */
export function esrganGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const { multiple } = readEsrganConfig(view) ?? { multiple: 1 }
  const lowering = lower('esrgan', view)
  const { graph } = lowering
  const pixels = graph.input('pixels', imageAxes(CHANNELS))
  const seen = multiple > 1 ? pixelUnshuffle(graph, pixels, CHANNELS, multiple) : pixels
  const features = lowering.conv(lowering.fromImage(seen), 'conv_first')
  let h = features
  for (let i = 0; i < countOf(view, 'body.'); i++) h = denseBlocks(lowering, view, h, `body.${i}`)
  h = lowering.add(features, lowering.conv(h, 'conv_body'))
  for (let i = 1; i <= doublings(view); i++) h = leaky(lowering, lowering.conv(lowering.upsample(h), `conv_up${i}`))
  h = lowering.conv(leaky(lowering, lowering.conv(h, 'conv_hr')), 'conv_last')
  graph.output('enlarged', lowering.toImage(h), ['N', CHANNELS, 'H_out', 'W_out'])
  return graph.finish()
}

/** A residual of three densely connected blocks, at a fifth of its strength. */
function denseBlocks(lowering: Lowering, view: WeightView, x: Wire, key: string): Wire {
  const blocks = [1, 2, 3].reduce((h, i) => denseBlock(lowering, view, h, `${key}.rdb${i}`), x)
  return lowering.add(x, fifth(lowering, blocks))
}

/**
 * Five convolutions that each see all before them, added at a fifth of their strength. ESRGAN+ (Rakotonirina and
 * Rasoanaivo, 2020) adds the input to what the second gives, through a 1×1 convolution, and that to the fourth's.
 */
function denseBlock(lowering: Lowering, view: WeightView, x: Wire, key: string): Wire {
  const linked = view.has(`${key}.conv1x1.weight`)
  let seen = x
  let second: Wire | undefined
  for (let i = 1; i <= 4; i++) {
    let h = leaky(lowering, lowering.conv(seen, `${key}.conv${i}`))
    if (linked && i === 2) second = h = lowering.add(h, lowering.conv(x, `${key}.conv1x1`))
    if (second && i === 4) h = lowering.add(h, second)
    seen = lowering.concat(seen, h)
  }
  return lowering.add(x, fifth(lowering, lowering.conv(seen, `${key}.conv5`)))
}

const leaky = ({ graph }: Lowering, x: Wire): Wire => graph.op('LeakyRelu', [x], { attributes: { alpha: float(0.2) } })

const fifth = (lowering: Lowering, x: Wire): Wire =>
  lowering.graph.op('Mul', [x, lowering.fromTokens(lowering.graph.constant([1], Float32Array.of(0.2)))])
