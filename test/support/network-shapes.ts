/** Names of weights and their shapes. */
export type Shapes = Readonly<Record<string, readonly number[]>>

/** A UNet of latent diffusion: full structure, any width. */
export interface UnetPlan {
  /** Channels at the full size; a multiple of 32. */
  readonly channels: number
  /** How many times as wide each level is. */
  readonly widths: readonly number[]
  readonly resBlocks: number
  /** Transformer blocks at each level; 0 for none. */
  readonly depths: readonly number[]
  /** Transformer blocks in the middle; `none` without a middle, -1 with its first block alone. */
  readonly middle: number | 'none'
  readonly linear: boolean
  readonly context: number
  readonly inChannels?: number
  /** Width of the vector beside the timestep. */
  readonly vector?: number
}

const layer = (key: string, dims: readonly number[]): Shapes => ({
  [`${key}.weight`]: dims,
  [`${key}.bias`]: [dims[0]!],
})
const norm = (key: string, width: number) => layer(key, [width])

function resBlock(key: string, from: number, to: number, embedding: number): Shapes {
  return {
    ...norm(`${key}.in_layers.0`, from),
    ...layer(`${key}.in_layers.2`, [to, from, 3, 3]),
    ...layer(`${key}.emb_layers.1`, [to, embedding]),
    ...norm(`${key}.out_layers.0`, to),
    ...layer(`${key}.out_layers.3`, [to, to, 3, 3]),
    ...(from === to ? {} : layer(`${key}.skip_connection`, [to, from, 1, 1])),
  }
}

function transformer(key: string, width: number, depth: number, { linear, context }: UnetPlan): Shapes {
  const projection = linear ? [width, width] : [width, width, 1, 1]
  const attention = (name: string, from: number): Shapes => ({
    [`${name}.to_q.weight`]: [width, width],
    [`${name}.to_k.weight`]: [width, from],
    [`${name}.to_v.weight`]: [width, from],
    ...layer(`${name}.to_out.0`, [width, width]),
  })
  const block = (name: string): Shapes => ({
    ...norm(`${name}.norm1`, width),
    ...attention(`${name}.attn1`, width),
    ...norm(`${name}.norm2`, width),
    ...attention(`${name}.attn2`, context),
    ...norm(`${name}.norm3`, width),
    ...layer(`${name}.ff.net.0.proj`, [width * 8, width]),
    ...layer(`${name}.ff.net.2`, [width, width * 4]),
  })
  return Object.assign(
    { ...norm(`${key}.norm`, width), ...layer(`${key}.proj_in`, projection), ...layer(`${key}.proj_out`, projection) },
    ...Array.from({ length: depth }, (_, i) => block(`${key}.transformer_blocks.${i}`)),
  )
}

/** A UNet under LDM names, without prefix. */
export function unetShapes(plan: UnetPlan): Shapes {
  const { channels, widths, resBlocks, depths, middle, inChannels = 4, vector } = plan
  const embedding = channels * 4
  const shapes: Record<string, readonly number[]> = {}
  const add = (...parts: readonly Shapes[]) => Object.assign(shapes, ...parts)
  const mlp = (key: string, from: number) =>
    add(layer(`${key}.0`, [embedding, from]), layer(`${key}.2`, [embedding, embedding]))
  mlp('time_embed', channels)
  if (vector !== undefined) mlp('label_emb.0', vector)

  const skips = [channels]
  let [width, at] = [channels, 0]
  add(layer('input_blocks.0.0', [channels, inChannels, 3, 3]))
  const stage = (key: string, from: number, to: number, depth: number) => {
    add(resBlock(`${key}.0`, from, to, embedding))
    if (depth > 0) add(transformer(`${key}.1`, to, depth, plan))
  }
  for (const [level, times] of widths.entries()) {
    for (let i = 0; i < resBlocks; i++) {
      stage(`input_blocks.${++at}`, width, channels * times, depths[level]!)
      width = channels * times
      skips.push(width)
    }
    if (level === widths.length - 1) break
    add(layer(`input_blocks.${++at}.0.op`, [width, width, 3, 3]))
    skips.push(width)
  }
  if (middle !== 'none') stage('middle_block', width, width, middle)
  if (middle !== 'none' && middle >= 0) add(resBlock(`middle_block.${middle > 0 ? 2 : 1}`, width, width, embedding))

  at = -1
  for (const [level, times] of [...widths.entries()].reverse()) {
    for (let i = 0; i <= resBlocks; i++) {
      const key = `output_blocks.${++at}`
      stage(key, width + skips.pop()!, channels * times, depths[level]!)
      width = channels * times
      if (i === resBlocks && level > 0) add(layer(`${key}.${depths[level]! > 0 ? 2 : 1}.conv`, [width, width, 3, 3]))
    }
  }
  return add(norm('out.0', width), layer('out.2', [4, width, 3, 3])) && shapes
}

/** A CLIP text transformer; `projected` is the width of its pooled output behind the projection. */
export interface ClipPlan {
  readonly width: number
  readonly layers: number
  readonly projected?: number
}

const vocabulary = 49_408
const positions = 77

/** In the layout of Hugging Face, from `text_model.` on. */
export function clipShapes({ width, layers, projected }: ClipPlan): Shapes {
  const block = (key: string): Shapes =>
    Object.assign(
      { ...norm(`${key}.layer_norm1`, width), ...norm(`${key}.layer_norm2`, width) },
      ...['q', 'k', 'v', 'out'].map((name) => layer(`${key}.self_attn.${name}_proj`, [width, width])),
      layer(`${key}.mlp.fc1`, [width * 4, width]),
      layer(`${key}.mlp.fc2`, [width, width * 4]),
    )
  return Object.assign(
    {
      'text_model.embeddings.token_embedding.weight': [vocabulary, width],
      'text_model.embeddings.position_embedding.weight': [positions, width],
    },
    ...Array.from({ length: layers }, (_, i) => block(`text_model.encoder.layers.${i}`)),
    norm('text_model.final_layer_norm', width),
    projected === undefined ? {} : { 'text_projection.weight': [projected, width] },
  )
}

/** The same in the layout of OpenCLIP. */
export function openClipShapes({ width, layers, projected }: ClipPlan): Shapes {
  const block = (key: string): Shapes => ({
    ...norm(`${key}.ln_1`, width),
    ...norm(`${key}.ln_2`, width),
    [`${key}.attn.in_proj_weight`]: [width * 3, width],
    [`${key}.attn.in_proj_bias`]: [width * 3],
    ...layer(`${key}.attn.out_proj`, [width, width]),
    ...layer(`${key}.mlp.c_fc`, [width * 4, width]),
    ...layer(`${key}.mlp.c_proj`, [width, width * 4]),
  })
  return Object.assign(
    { 'token_embedding.weight': [vocabulary, width], positional_embedding: [positions, width] },
    ...Array.from({ length: layers }, (_, i) => block(`transformer.resblocks.${i}`)),
    norm('ln_final', width),
    projected === undefined ? {} : { text_projection: [width, projected] },
  )
}

/** A KL autoencoder of `width` channels throughout and four sizes, under LDM names. */
export function autoencoderShapes(width: number): Shapes {
  const shapes: Record<string, readonly number[]> = {}
  const add = (...parts: readonly Shapes[]) => Object.assign(shapes, ...parts)
  const conv = (key: string, from: number, to: number, side = 3) => add(layer(key, [to, from, side, side]))
  const block = (key: string) => {
    for (const i of [1, 2]) {
      add(norm(`${key}.norm${i}`, width))
      conv(`${key}.conv${i}`, width, width)
    }
  }
  const coder = (key: string, from: number, to: number, list: string, blocks: number, resample: string) => {
    conv(`${key}.conv_in`, from, width)
    for (const level of [0, 1, 2, 3]) {
      for (let i = 0; i < blocks; i++) block(`${key}.${list}.${level}.block.${i}`)
      if (level !== (list === 'up' ? 0 : 3)) conv(`${key}.${list}.${level}.${resample}.conv`, width, width)
    }
    for (const i of [1, 2]) block(`${key}.mid.block_${i}`)
    add(norm(`${key}.mid.attn_1.norm`, width))
    for (const name of ['q', 'k', 'v', 'proj_out']) conv(`${key}.mid.attn_1.${name}`, width, width, 1)
    add(norm(`${key}.norm_out`, width))
    conv(`${key}.conv_out`, width, to)
  }
  coder('encoder', 3, 8, 'down', 2, 'downsample')
  coder('decoder', 4, 3, 'up', 3, 'upsample')
  conv('quant_conv', 8, 8, 1)
  conv('post_quant_conv', 4, 4, 1)
  return shapes
}
