// Writes a checkpoint of full Stable Diffusion 1.5 size with random weights (860 M parameters in the UNet, 123 M in the
// text encoder, 84 M in the autoencoder), to measure what a real one costs: node full-size-checkpoint.mjs out.safetensors

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

function transformer(key, width, context) {
  const block = `${key}.transformer_blocks.0`
  const attention = (name, from) => [
    ...linear(`${block}.${name}.to_q`, width, width, false),
    ...linear(`${block}.${name}.to_k`, from, width, false),
    ...linear(`${block}.${name}.to_v`, from, width, false),
    ...linear(`${block}.${name}.to_out.0`, width, width),
  ]
  return [
    ...norm(`${key}.norm`, width),
    ...conv(`${key}.proj_in`, width, width, 1),
    ...attention('attn1', width),
    ...attention('attn2', context),
    ...[1, 2, 3].flatMap((i) => norm(`${block}.norm${i}`, width)),
    ...linear(`${block}.ff.net.0.proj`, width, 8 * width),
    ...linear(`${block}.ff.net.2`, 4 * width, width),
    ...conv(`${key}.proj_out`, width, width, 1),
  ]
}

function unet(channels, multipliers, attended, context) {
  const embedding = 4 * channels
  const entries = [
    ...linear('time_embed.0', channels, embedding),
    ...linear('time_embed.2', embedding, embedding),
    ...conv('input_blocks.0.0', 4, channels, 3),
  ]
  const skips = [channels]
  let width = channels
  let block = 1
  for (const [level, multiplier] of multipliers.entries()) {
    for (let i = 0; i < 2; i++, block++) {
      entries.push(...unetBlock(`input_blocks.${block}.0`, width, channels * multiplier, embedding))
      width = channels * multiplier
      if (attended[level]) entries.push(...transformer(`input_blocks.${block}.1`, width, context))
      skips.push(width)
    }
    if (level === multipliers.length - 1) continue
    entries.push(...conv(`input_blocks.${block++}.0.op`, width, width, 3))
    skips.push(width)
  }
  entries.push(
    ...unetBlock('middle_block.0', width, width, embedding),
    ...transformer('middle_block.1', width, context),
  )
  entries.push(...unetBlock('middle_block.2', width, width, embedding))
  block = 0
  for (const [level, multiplier] of [...multipliers.entries()].reverse()) {
    for (let i = 0; i < 3; i++, block++) {
      entries.push(...unetBlock(`output_blocks.${block}.0`, width + skips.pop(), channels * multiplier, embedding))
      width = channels * multiplier
      if (attended[level]) entries.push(...transformer(`output_blocks.${block}.1`, width, context))
      if (level > 0 && i === 2)
        entries.push(...conv(`output_blocks.${block}.${attended[level] ? 2 : 1}.conv`, width, width, 3))
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

/** The names and shapes of Stable Diffusion 1.5. */
function stableDiffusion15() {
  const prefixed = (prefix, entries) => entries.map(([name, dims]) => [prefix + name, dims])
  return [
    ...prefixed('model.diffusion_model.', unet(320, [1, 2, 4, 4], [true, true, true, false], 768)),
    ...prefixed('first_stage_model.', autoencoder(128, [1, 2, 4, 4])),
    ...prefixed('cond_stage_model.transformer.text_model.', textEncoder(768, 12)),
  ]
}

/** Writes float16 weights: small random numbers, different for every tensor; norms are 1 and biases small. */
export async function writeFullSizeCheckpoint(path) {
  const entries = stableDiffusion15()
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
  const { parameters, bytes } = await writeFullSizeCheckpoint(argv[2] ?? 'full-size.safetensors')
  stdout.write(`${(parameters / 1e6).toFixed(1)} M parameters, ${(bytes / 1e9).toFixed(2)} GB\n`)
}
