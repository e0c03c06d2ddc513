// Writes a checkpoint of full size with random weights, to measure what a real one costs:
// node full-size-checkpoint.mjs out.safetensors [sd15 | sdxl]
// sd15: 860 M parameters in the UNet, 123 M in the text encoder, 84 M in the autoencoder. sdxl: 2567 M, 818 M, 84 M.

import { randomFillSync } from 'node:crypto'
import { open } from 'node:fs/promises'
import { argv, stdout } from 'node:process'
import { pathToFileURL } from 'node:url'

const norm = (key, width) => [
  [`${key}.weight`, [width]],
  [`${key}.bias`, [width]],
]
const conv = (key, from, to, side) => [
  [`${key}.weight`, [to, from, side, side]],
  [`${key}.bias`, [to]],
]
const linear = (key, from, to, bias = true) => [[`${key}.weight`, [to, from]], ...(bias ? [[`${key}.bias`, [to]]] : [])]

function unetBlock(key, from, to, embedding) {
  return [
    ...norm(`${key}.in_layers.0`, from),
    ...conv(`${key}.in_layers.2`, from, to, 3),
    ...linear(`${key}.emb_layers.1`, embedding, to),
    ...norm(`${key}.out_layers.0`, to),
    ...conv(`${key}.out_layers.3`, to, to, 3),
    ...(from === to ? [] : conv(`${key}.skip_connection`, from, to, 1)),
  ]
}

function transformer(key, width, { context, linearProjection }, depth) {
  const attention = (name, from) => [
    ...linear(`${name}.to_q`, width, width, false),
    ...linear(`${name}.to_k`, from, width, false),
    ...linear(`${name}.to_v`, from, width, false),
    ...linear(`${name}.to_out.0`, width, width),
  ]
  const block = (at) => [
    ...attention(`${at}.attn1`, width),
    ...attention(`${at}.attn2`, context),
    ...[1, 2, 3].flatMap((i) => norm(`${at}.norm${i}`, width)),
    ...linear(`${at}.ff.net.0.proj`, width, 8 * width),
    ...linear(`${at}.ff.net.2`, 4 * width, width),
  ]
  const project = (name) => (linearProjection ? linear(name, width, width) : conv(name, width, width, 1))
  return [
    ...norm(`${key}.norm`, width),
    ...project(`${key}.proj_in`),
    ...Array.from({ length: depth }, (_, i) => block(`${key}.transformer_blocks.${i}`)).flat(),
    ...project(`${key}.proj_out`),
  ]
}

/** `depths` has the transformer blocks of each level. */
function unet(channels, multipliers, depths, plan) {
  const embedding = 4 * channels
  const entries = [
    ...linear('time_embed.0', channels, embedding),
    ...linear('time_embed.2', embedding, embedding),
    ...(plan.vector ? linear('label_emb.0.0', plan.vector, embedding) : []),
    ...(plan.vector ? linear('label_emb.0.2', embedding, embedding) : []),
    ...conv('input_blocks.0.0', 4, channels, 3),
  ]
  const skips = [channels]
  let width = channels
  let block = 1
  for (const [level, multiplier] of multipliers.entries()) {
    for (let i = 0; i < 2; i++, block++) {
      entries.push(...unetBlock(`input_blocks.${block}.0`, width, channels * multiplier, embedding))
      width = channels * multiplier
      if (depths[level]) entries.push(...transformer(`input_blocks.${block}.1`, width, plan, depths[level]))
      skips.push(width)
    }
    if (level === multipliers.length - 1) continue
    entries.push(...conv(`input_blocks.${block++}.0.op`, width, width, 3))
    skips.push(width)
  }
  entries.push(
    ...unetBlock('middle_block.0', width, width, embedding),
    ...transformer('middle_block.1', width, plan, plan.middle),
  )
  entries.push(...unetBlock('middle_block.2', width, width, embedding))
  block = 0
  for (const [level, multiplier] of [...multipliers.entries()].reverse()) {
    for (let i = 0; i < 3; i++, block++) {
      entries.push(...unetBlock(`output_blocks.${block}.0`, width + skips.pop(), channels * multiplier, embedding))
      width = channels * multiplier
      if (depths[level]) entries.push(...transformer(`output_blocks.${block}.1`, width, plan, depths[level]))
      if (level > 0 && i === 2)
        entries.push(...conv(`output_blocks.${block}.${depths[level] ? 2 : 1}.conv`, width, width, 3))
    }
  }
  return [...entries, ...norm('out.0', width), ...conv('out.2', width, 4, 3)]
}

function autoencoderBlock(key, from, to) {
  return [
    ...norm(`${key}.norm1`, from),
    ...conv(`${key}.conv1`, from, to, 3),
    ...norm(`${key}.norm2`, to),
    ...conv(`${key}.conv2`, to, to, 3),
    ...(from === to ? [] : conv(`${key}.nin_shortcut`, from, to, 1)),
  ]
}

function autoencoder(channels, multipliers) {
  const top = channels * multipliers.at(-1)
  const middle = (key) => [
    ...autoencoderBlock(`${key}.mid.block_1`, top, top),
    ...norm(`${key}.mid.attn_1.norm`, top),
    ...['q', 'k', 'v', 'proj_out'].flatMap((name) => conv(`${key}.mid.attn_1.${name}`, top, top, 1)),
    ...autoencoderBlock(`${key}.mid.block_2`, top, top),
  ]
  const entries = [...conv('encoder.conv_in', 3, channels, 3)]
  let width = channels
  for (const [level, multiplier] of multipliers.entries()) {
    for (let i = 0; i < 2; i++, width = channels * multiplier)
      entries.push(...autoencoderBlock(`encoder.down.${level}.block.${i}`, width, channels * multiplier))
    if (level < multipliers.length - 1) entries.push(...conv(`encoder.down.${level}.downsample.conv`, width, width, 3))
  }
  entries.push(...middle('encoder'), ...norm('encoder.norm_out', top), ...conv('encoder.conv_out', top, 8, 3))
  entries.push(
    ...conv('quant_conv', 8, 8, 1),
    ...conv('post_quant_conv', 4, 4, 1),
    ...conv('decoder.conv_in', 4, top, 3),
  )
  entries.push(...middle('decoder'))
  for (const [level, multiplier] of [...multipliers.entries()].reverse()) {
    for (let i = 0; i < 3; i++, width = channels * multiplier)
      entries.push(...autoencoderBlock(`decoder.up.${level}.block.${i}`, width, channels * multiplier))
    if (level > 0) entries.push(...conv(`decoder.up.${level}.upsample.conv`, width, width, 3))
  }
  return [...entries, ...norm('decoder.norm_out', channels), ...conv('decoder.conv_out', channels, 3, 3)]
}

function textEncoder(width, layers) {
  const layer = (key) => [
    ...['q', 'k', 'v', 'out'].flatMap((name) => linear(`${key}.self_attn.${name}_proj`, width, width)),
    ...norm(`${key}.layer_norm1`, width),
    ...linear(`${key}.mlp.fc1`, width, 4 * width),
    ...linear(`${key}.mlp.fc2`, 4 * width, width),
    ...norm(`${key}.layer_norm2`, width),
  ]
  return [
    ['embeddings.token_embedding.weight', [49_408, width]],
    ['embeddings.position_embedding.weight', [77, width]],
    ...Array.from({ length: layers }, (_, i) => layer(`encoder.layers.${i}`)).flat(),
    ...norm('final_layer_norm', width),
  ]
}

/** OpenCLIP's layout, in which queries, keys and values are one tensor. */
function openTextEncoder(width, layers) {
  const layer = (key) => [
    [`${key}.attn.in_proj_weight`, [3 * width, width]],
    [`${key}.attn.in_proj_bias`, [3 * width]],
    ...linear(`${key}.attn.out_proj`, width, width),
    ...norm(`${key}.ln_1`, width),
    ...linear(`${key}.mlp.c_fc`, width, 4 * width),
    ...linear(`${key}.mlp.c_proj`, 4 * width, width),
    ...norm(`${key}.ln_2`, width),
  ]
  return [
    ['token_embedding.weight', [49_408, width]],
    ['positional_embedding', [77, width]],
    ...Array.from({ length: layers }, (_, i) => layer(`transformer.resblocks.${i}`)).flat(),
    ...norm('ln_final', width),
    ['text_projection', [width, width]],
  ]
}

const prefixed = (prefix, entries) => entries.map(([name, dims]) => [prefix + name, dims])

/** The names and shapes of published models. */
const models = {
  sd15: () => [
    ...prefixed(
      'model.diffusion_model.',
      unet(320, [1, 2, 4, 4], [1, 1, 1, 0], { context: 768, middle: 1, linearProjection: false }),
    ),
    ...prefixed('first_stage_model.', autoencoder(128, [1, 2, 4, 4])),
    ...prefixed('cond_stage_model.transformer.text_model.', textEncoder(768, 12)),
  ],
  sdxl: () => [
    ...prefixed(
      'model.diffusion_model.',
      unet(320, [1, 2, 4], [0, 2, 10], { context: 2048, middle: 10, linearProjection: true, vector: 2816 }),
    ),
    ...prefixed('first_stage_model.', autoencoder(128, [1, 2, 4, 4])),
    ...prefixed('conditioner.embedders.0.transformer.text_model.', textEncoder(768, 12)),
    ...prefixed('conditioner.embedders.1.model.', openTextEncoder(1280, 32)),
  ],
}

/** Writes a checkpoint of `model` (`sd15`, `sdxl`). */
export const writeFullSizeCheckpoint = (path, model = 'sd15') => writeRandom(path, models[model]())

/** The names and shapes of `model`'s tensors. */
export const shapesOf = (model) => models[model]()

/** Writes float16 weights: small random numbers, different for every tensor; norms are 1 and biases small. */
export async function writeRandom(path, entries) {
  const header = {}
  let at = 0
  for (const [name, dims] of entries) {
    const length = 2 * dims.reduce((product, dim) => product * dim, 1)
    header[name] = { dtype: 'F16', shape: dims, data_offsets: [at, at + length] }
    at += length
  }
  const json = Buffer.from(JSON.stringify(header))
  const size = Buffer.alloc(8)
  size.writeBigUInt64LE(BigInt(json.length))
  const file = await open(path, 'w')
  await file.write(Buffer.concat([size, json]))
  for (const [name, dims] of entries) {
    const values = new Uint16Array(dims.reduce((product, dim) => product * dim, 1))
    if (dims.length === 1 && name.endsWith('.weight')) values.fill(0x3c00)
    else {
      randomFillSync(values)
      // Random sign and fraction under a small exponent: ±0.016 to ±0.031, less for wide layers.
      for (let i = 0; i < values.length; i++) values[i] = (values[i] & 0x83ff) | (9 << 10)
    }
    await file.write(new Uint8Array(values.buffer))
  }
  await file.close()
  return { parameters: at / 2, bytes: at }
}

if (argv[1] && import.meta.url === pathToFileURL(argv[1]).href) {
  const { parameters, bytes } = await writeFullSizeCheckpoint(argv[2] ?? 'full-size.safetensors', argv[3])
  stdout.write(`${(parameters / 1e6).toFixed(1)} M parameters, ${(bytes / 1e9).toFixed(2)} GB\n`)
}
