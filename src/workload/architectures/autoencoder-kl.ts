import type { GraphModel, Wire } from '../onnx/graph-builder.ts'
import { countOf, type WeightView } from '../weights/weight-view.ts'
import { imageAxes, type Lowering, type LoweringFor } from './lowering.ts'

const EPSILON = 1e-6

/** The sizes of a KL autoencoder, read from the shapes of its weights. */
export interface AutoencoderConfig {
  readonly latentChannels: number
  /** Pixels a latent cell, along each side. */
  readonly downscale: number
}

/** Reads the sizes; names are those behind `first_stage_model.`. */
export function readAutoencoderConfig(view: WeightView): AutoencoderConfig {
  return {
    latentChannels: view.get('decoder.conv_in.weight').dims[1]!,
    downscale: 2 ** (countOf(view, 'decoder.up.') - 1),
  }
}

/**
 * The decoder of the KL autoencoder: `latents` `[N, Z, h, w]` → `decoded` `[N, 3, H, W]`, about -1 to 1, and `pixels`
 * `[N, H, W, 3]`, the same brought to 0 to 1 and cut off there.
 */
export function decoderGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const { latentChannels } = readAutoencoderConfig(view)
  const lowering = lower('vae_decoder', view)
  let h = lowering.fromImage(lowering.graph.input('latents', imageAxes(latentChannels)))
  if (view.has('post_quant_conv.weight')) h = lowering.conv(h, 'post_quant_conv')
  h = middle(lowering, view, lowering.conv(h, 'decoder.conv_in'), 'decoder.mid')
  for (let level = countOf(view, 'decoder.up.') - 1; level >= 0; level--) {
    const key = `decoder.up.${level}`
    for (let i = 0; i < countOf(view, `${key}.block.`); i++) h = resBlock(lowering, view, h, `${key}.block.${i}`)
    if (view.has(`${key}.upsample.conv.weight`)) h = lowering.conv(lowering.upsample(h), `${key}.upsample.conv`)
  }
  h = lowering.conv(lowering.groupNorm(h, 'decoder.norm_out', EPSILON, 'silu'), 'decoder.conv_out')
  const decoded = lowering.toImage(h)
  const { op, constant, output, finish } = lowering.graph
  const [half, nought, one] = [0.5, 0, 1].map((value) => constant([], Float32Array.of(value))) as [Wire, Wire, Wire]
  const halved = op('Add', [
    op('Mul', [op('Transpose', [decoded], { attributes: { perm: [0, 2, 3, 1] } }), half]),
    half,
  ])
  output('decoded', decoded, imageAxes(3))
  output('pixels', op('Clip', [halved, nought, one]), ['N', 'H', 'W', 3])
  return finish()
}

/**
 * The encoder: `pixels` `[N, 3, H, W]`, -1 to 1 → `moments` `[N, 2Z, h, w]`, whose first half is the mean of the
 * latents and whose second is their log-variance.
 */
export function encoderGraph(view: WeightView, lower: LoweringFor): GraphModel {
  const { latentChannels } = readAutoencoderConfig(view)
  const lowering = lower('vae_encoder', view)
  let h = lowering.conv(lowering.fromImage(lowering.graph.input('pixels', imageAxes(3))), 'encoder.conv_in')
  for (let level = 0; level < countOf(view, 'encoder.down.'); level++) {
    const key = `encoder.down.${level}`
    for (let i = 0; i < countOf(view, `${key}.block.`); i++) h = resBlock(lowering, view, h, `${key}.block.${i}`)
    // One pixel on the right and at the bottom only.
    if (view.has(`${key}.downsample.conv.weight`))
      h = lowering.conv(h, `${key}.downsample.conv`, { stride: 2, padding: [0, 0, 1, 1] })
  }
  h = middle(lowering, view, h, 'encoder.mid')
  h = lowering.conv(lowering.groupNorm(h, 'encoder.norm_out', EPSILON, 'silu'), 'encoder.conv_out')
  if (view.has('quant_conv.weight')) h = lowering.conv(h, 'quant_conv')
  lowering.graph.output('moments', lowering.toImage(h), imageAxes(2 * latentChannels))
  return lowering.graph.finish()
}

function middle(lowering: Lowering, view: WeightView, x: Wire, key: string): Wire {
  const attended = attention(lowering, resBlock(lowering, view, x, `${key}.block_1`), `${key}.attn_1`)
  return resBlock(lowering, view, attended, `${key}.block_2`)
}

function resBlock(lowering: Lowering, view: WeightView, x: Wire, key: string): Wire {
  let h = lowering.conv(lowering.groupNorm(x, `${key}.norm1`, EPSILON, 'silu'), `${key}.conv1`)
  h = lowering.conv(lowering.groupNorm(h, `${key}.norm2`, EPSILON, 'silu'), `${key}.conv2`)
  return lowering.add(view.has(`${key}.nin_shortcut.weight`) ? lowering.conv(x, `${key}.nin_shortcut`) : x, h)
}

/** Attention of every pixel to every other, with one head over all channels. */
function attention(lowering: Lowering, x: Wire, key: string): Wire {
  const normalised = lowering.groupNorm(x, `${key}.norm`, EPSILON)
  const tokens = (name: string) => lowering.flatten(lowering.conv(normalised, `${key}.${name}`))
  const attended = lowering.attention(tokens('q'), tokens('k'), tokens('v'), 1)
  return lowering.add(x, lowering.conv(lowering.unflatten(attended, x), `${key}.proj_out`))
}
