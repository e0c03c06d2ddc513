import { slicedAlong } from '../../src/workload/tensor/axes.ts'
import { type Tensor, tensor } from '../../src/workload/tensor/tensor.ts'
import type { Weights } from './random-checkpoints.ts'

const renamedBy = (weights: Weights, rename: (name: string) => string): Weights =>
  Object.fromEntries(Object.entries(weights).map(([name, t]) => [rename(name), t]))

const replaced = (text: string, pairs: readonly (readonly [from: string | RegExp, to: string])[]): string =>
  pairs.reduce((result, [from, to]) => result.replace(from, to), text)

/** A UNet of LDM under the names that diffusers gives to one of `resBlocks` blocks a level. */
export function diffusersUnet(weights: Weights, resBlocks: number): Weights {
  const layers = (name: string) =>
    replaced(name, [
      ['in_layers.0', 'norm1'],
      ['in_layers.2', 'conv1'],
      ['emb_layers.1', 'time_emb_proj'],
      ['out_layers.0', 'norm2'],
      ['out_layers.3', 'conv2'],
      ['skip_connection', 'conv_shortcut'],
    ])
  const inBlock = (side: 'down' | 'up', block: number, part: string, rest: string) => {
    const [level, i] = [Math.floor(block / (resBlocks + 1)), block % (resBlocks + 1)]
    const key = `${side}_blocks.${level}`
    if (rest.startsWith('op.')) return `${key}.downsamplers.0.${rest.replace('op', 'conv')}`
    if (rest.startsWith('conv.')) return `${key}.upsamplers.0.${rest}`
    return part === '0' ? layers(`${key}.resnets.${i}.${rest}`) : `${key}.attentions.${i}.${rest}`
  }
  const middle: Readonly<Record<string, string>> = { 0: 'resnets.0', 1: 'attentions.0', 2: 'resnets.1' }
  return renamedBy(weights, (name) => {
    const [, kind, block, part = '', rest = ''] = /^(input|output)_blocks\.(\d+)\.(\d+)\.(.+)$/.exec(name) ?? []
    if (kind === 'output') return inBlock('up', Number(block), part, rest)
    if (kind === 'input' && block !== '0') return inBlock('down', Number(block) - 1, part, rest)
    return layers(name)
      .replace(/^middle_block\.(\d)/, (_, i: string) => `mid_block.${middle[i]}`)
      .replace(/^time_embed\.([02])/, (_, i: string) => `time_embedding.linear_${i === '0' ? 1 : 2}`)
      .replace(/^label_emb\.0\.([02])/, (_, i: string) => `add_embedding.linear_${i === '0' ? 1 : 2}`)
      .replace('input_blocks.0.0', 'conv_in')
      .replace(/^out\.0/, 'conv_norm_out')
      .replace(/^out\.2/, 'conv_out')
  })
}

/** An autoencoder of LDM with four levels in the layout of diffusers, whose attention has had two sets of names. */
export function diffusersVae(weights: Weights, names: 'old' | 'new' = 'new'): Weights {
  const projections =
    names === 'new'
      ? { q: 'to_q', k: 'to_k', v: 'to_v', proj_out: 'to_out.0' }
      : { q: 'query', k: 'key', v: 'value', proj_out: 'proj_attn' }
  const rename = (name: string) =>
    replaced(name, [
      [/mid\.block_1/, 'mid_block.resnets.0'],
      [/mid\.block_2/, 'mid_block.resnets.1'],
      [/mid\.attn_1\.norm/, 'mid_block.attentions.0.group_norm'],
      ...Object.entries(projections).map(
        ([ours, theirs]) => [new RegExp(`mid\\.attn_1\\.${ours}\\b`), `mid_block.attentions.0.${theirs}`] as const,
      ),
      [/\bnorm_out/, 'conv_norm_out'],
      ['nin_shortcut', 'conv_shortcut'],
      [/down\.(\d)\.block/, 'down_blocks.$1.resnets'],
      [/down\.(\d)\.downsample/, 'down_blocks.$1.downsamplers.0'],
    ]).replace(
      /up\.(\d)\.(block|upsample)/,
      (_, level: string, kind: string) =>
        `up_blocks.${3 - Number(level)}.${kind === 'block' ? 'resnets' : 'upsamplers.0'}`,
    )
  const linear = (name: string, t: Tensor) =>
    /attn_1\.(q|k|v|proj_out)\.weight/.test(name) ? tensor(t.dims.slice(0, 2), t.data) : t
  return Object.fromEntries(Object.entries(weights).map(([name, t]) => [rename(name), linear(name, t)]))
}

/** OpenCLIP's text transformer in the layout of transformers. */
export function transformersClip(weights: Weights): Weights {
  const entries = Object.entries(weights).flatMap(([name, t]): (readonly [string, Tensor])[] => {
    const [, layer, kind] = /resblocks\.(\d+)\.attn\.in_proj_(weight|bias)/.exec(name) ?? []
    if (layer !== undefined) {
      const width = t.dims[0]! / 3
      return ['q', 'k', 'v'].map((each, i) => [
        `text_model.encoder.layers.${layer}.self_attn.${each}_proj.${kind}`,
        slicedAlong(t, 0, i * width, (i + 1) * width),
      ])
    }
    if (name === 'text_projection') return [['text_projection.weight', transposed(t)]]
    const renamed = replaced(name, [
      ['transformer.resblocks', 'encoder.layers'],
      ['ln_1', 'layer_norm1'],
      ['ln_2', 'layer_norm2'],
      ['mlp.c_fc', 'mlp.fc1'],
      ['mlp.c_proj', 'mlp.fc2'],
      ['attn.out_proj', 'self_attn.out_proj'],
      ['ln_final', 'final_layer_norm'],
      ['token_embedding', 'embeddings.token_embedding'],
      ['positional_embedding', 'embeddings.position_embedding.weight'],
    ])
    return [[`text_model.${renamed}`, t]]
  })
  return Object.fromEntries(entries)
}

function transposed({ dims: [rows = 0, columns = 0], data }: Tensor): Tensor {
  const values = Float32Array.from(
    { length: data.length },
    (_, i) => data[(i % rows) * columns + Math.floor(i / rows)]!,
  )
  return tensor([columns, rows], values)
}
