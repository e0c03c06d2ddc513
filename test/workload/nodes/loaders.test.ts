import { describe, expect, it } from 'vitest'
import { describeNode } from '../../../src/workload/graph/describe.ts'
import type { Checkpoint, ModelStore, TextEncoder, Vae } from '../../../src/workload/model/ports.ts'
import clipLoader from '../../../src/workload/nodes/clip-loader.ts'
import diffusersLoader from '../../../src/workload/nodes/diffusers-loader.ts'
import dualClipLoader from '../../../src/workload/nodes/dual-clip-loader.ts'
import type { Catalogue } from '../../../src/workload/nodes/support/define.ts'
import unetLoader from '../../../src/workload/nodes/unet-loader.ts'
import vaeLoader from '../../../src/workload/nodes/vae-loader.ts'
import { zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, nodeRoom } from '../../support/node-room.ts'
import { createToyModel } from '../../support/toy-diffusion-model.ts'

/** A catalogue whose folders hold these files. */
const catalogue = (files: Readonly<Record<string, readonly string[]>>): Catalogue => ({
  samplers: new Map(),
  schedulers: new Map(),
  files: async (folder) => files[folder] ?? [],
  inputImages: async () => [],
})

const { model } = createToyModel()
const clip: TextEncoder = { encode: async () => [], stoppingAt: () => clip, patched: () => clip }
const vae: Vae = { downscale: 8, channels: 4, decode: async () => zeros([1]), encode: async () => zeros([1]) }
const checkpoint: Checkpoint = { model, clip, vae }

const outputsOf = async (node: AnyNode, values: Readonly<Record<string, unknown>>, models: Partial<ModelStore>) =>
  (await node.run(values, (await nodeRoom({}, models)).context)).values

describe('UNETLoader', () => {
  const node = unetLoader(catalogue({}))
  const models: Partial<ModelStore> = {
    diffusionModel: async (name) => ({ ...model, inputsFor: () => ({ [name]: zeros([1]) }) }),
  }

  it('opens the network of the file', async () => {
    const [opened] = await outputsOf(node, { unet_name: 'a.safetensors', weight_dtype: 'default' }, models)
    const inputs = (opened as typeof model).inputsFor({ context: zeros([1]) }, { height: 1, width: 1 })
    expect(Object.keys(inputs)).toEqual(['a.safetensors'])
  })

  it('refuses types that would round the weights', async () => {
    await expect(outputsOf(node, { unet_name: 'a', weight_dtype: 'fp8_e4m3fn' }, models)).rejects.toThrow(
      'the weight_dtype fp8_e4m3fn is not supported: choose default',
    )
  })
})

describe('CLIPLoader and DualCLIPLoader', () => {
  it('ask for the encoders of the files, of the type', async () => {
    const asked: unknown[] = []
    const models: Partial<ModelStore> = {
      textEncoder: async (names, type) => {
        asked.push([names, type])
        return clip
      },
    }
    const one = await outputsOf(clipLoader(catalogue({})), { clip_name: 'a', type: 'stable_diffusion' }, models)
    const pair = { clip_name1: 'a', clip_name2: 'b', type: 'sdxl', device: 'cpu' }
    expect([one, await outputsOf(dualClipLoader(catalogue({})), pair, models)]).toEqual([[clip], [clip]])
    expect(asked).toEqual([
      [['a'], 'stable_diffusion'],
      [['a', 'b'], 'sdxl'],
    ])
  })

  it('runs again when either file was replaced', async () => {
    const { context } = await nodeRoom({}, { version: async (folder, name) => `${folder}/${name}` })
    const print = await dualClipLoader(catalogue({})).fingerprint!({ clip_name1: 'a', clip_name2: 'b' }, context)
    expect(print).toBe('text_encoders/a text_encoders/b')
  })
})

describe('DiffusersLoader', () => {
  it('gives the three parts of the folder, and offers folders', async () => {
    const node = diffusersLoader(catalogue({ diffusers: ['sub/model'] }))
    const models: Partial<ModelStore> = { diffusers: async () => checkpoint }
    expect(await outputsOf(node, { model_path: 'sub/model' }, models)).toEqual([model, clip, vae])
    expect(await describeNode(node)).toMatchObject({ input: { required: { model_path: [['sub/model'], {}] } } })
  })
})

describe('VAELoader', () => {
  const tiny = ['taesd_decoder.pth', 'taesd_encoder.safetensors', 'taesdxl_decoder.safetensors']
  const node = vaeLoader(catalogue({ vae: ['a.safetensors'], vae_approx: tiny }))

  it('offers the files, the tiny autoencoders whose halves are both there, and pixel_space', async () => {
    const choices = [['a.safetensors', 'taesd', 'pixel_space'], {}]
    expect(await describeNode(node)).toMatchObject({ input: { required: { vae_name: choices } } })
  })

  it('opens what was chosen, and refuses pixel_space', async () => {
    expect(await outputsOf(node, { vae_name: 'taesd' }, { vae: async () => vae })).toEqual([vae])
    await expect(outputsOf(node, { vae_name: 'pixel_space' }, {})).rejects.toThrow('pixel_space is not supported')
  })

  it('runs again when the file or a half was replaced', async () => {
    const { context } = await nodeRoom({}, { version: async (folder, name) => `${folder}/${name}` })
    expect(await node.fingerprint!({ vae_name: 'a.safetensors' }, context)).toBe('vae/a.safetensors')
    expect(await node.fingerprint!({ vae_name: 'taesd' }, context)).toBe(
      'vae_approx/taesd_decoder.pth vae_approx/taesd_encoder.safetensors',
    )
  })
})
