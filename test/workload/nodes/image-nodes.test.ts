import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { listImages } from '../../../src/workload/image/load.ts'
import emptyImage from '../../../src/workload/nodes/empty-image.ts'
import imageInvert from '../../../src/workload/nodes/image-invert.ts'
import imageScale from '../../../src/workload/nodes/image-scale.ts'
import imageScaleBy from '../../../src/workload/nodes/image-scale-by.ts'
import latentUpscale from '../../../src/workload/nodes/latent-upscale.ts'
import latentUpscaleBy from '../../../src/workload/nodes/latent-upscale-by.ts'
import loadImage from '../../../src/workload/nodes/load-image.ts'
import loadImageMask from '../../../src/workload/nodes/load-image-mask.ts'
import previewImage from '../../../src/workload/nodes/preview-image.ts'
import saveImage from '../../../src/workload/nodes/save-image.ts'
import setLatentNoiseMask from '../../../src/workload/nodes/set-latent-noise-mask.ts'
import type { Catalogue } from '../../../src/workload/nodes/support/define.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf, nodeRoom } from '../../support/node-room.ts'

/** A room with the nodes that load from its folder. */
async function room(files: Readonly<Record<string, Buffer>> = {}) {
  const made = await nodeRoom(files)
  const catalogue = catalogueOf(() => listImages(made.input))
  return { ...made, load: loadImage(catalogue), loadMask: loadImageMask(catalogue) }
}

function catalogueOf(inputImages: Catalogue['inputImages']): Catalogue {
  return { samplers: new Map(), schedulers: new Map(), files: async () => [], inputImages }
}

const run = async (node: AnyNode, values: Readonly<Record<string, unknown>>) => node.run(values, (await room()).context)
const dimsAfter = async (node: AnyNode, values: Readonly<Record<string, unknown>>) =>
  (await firstOf<Tensor>(node, values)).dims

describe('ImageScale', () => {
  const image = mapped(zeros([1, 5, 7, 3]), (_, i) => i / 105)
  const scale = { image, upscale_method: 'bilinear', crop: 'disabled' }

  it.each([
    [0, 0, [1, 5, 7, 3]],
    [14, 0, [1, 10, 14, 3]],
    [0, 8, [1, 8, 11, 3]],
    [1, 0, [1, 1, 1, 3]],
    [4, 3, [1, 3, 4, 3]],
  ])('to %d × %d gives %j', async (width, height, dims) => {
    expect(await dimsAfter(imageScale, { ...scale, width, height })).toEqual(dims)
  })

  it('keeps colours apart', async () => {
    const red = mapped(zeros([1, 5, 7, 3]), (_, i) => Number(i % 3 === 0))
    const { data } = await firstOf<Tensor>(imageScale, { ...scale, image: red, width: 3, height: 9, crop: 'center' })
    for (const [i, value] of data.entries()) expect(value).toBeCloseTo(Number(i % 3 === 0), 5)
  })

  it('by a factor rounds halves to even', async () => {
    const values = { image, upscale_method: 'lanczos', scale_by: 0.5 }
    expect(await dimsAfter(imageScaleBy, values)).toEqual([1, 2, 4, 3])
    await expect(run(imageScaleBy, { ...values, scale_by: 0.01 })).rejects.toThrow('cannot resize to 0×0')
  })
})

describe('latents', () => {
  const samples = mapped(zeros([1, 4, 16, 24]), (_, i) => Math.sin(i))
  const latent = { samples, batchIndex: [3] }
  const values = { samples: latent, upscale_method: 'bislerp', crop: 'disabled' }

  it.each([
    [0, 0, [1, 4, 16, 24]],
    [256, 0, [1, 4, 21, 32]],
    [0, 256, [1, 4, 32, 48]],
    [8, 8, [1, 4, 8, 8]],
    [300, 200, [1, 4, 25, 37]],
  ])('scaled to %d × %d pixels become %j', async (width, height, dims) => {
    const result = await firstOf<{ samples: Tensor; batchIndex: unknown }>(latentUpscale, { ...values, width, height })
    expect(result.samples.dims).toEqual(dims)
    expect(result.batchIndex).toEqual([3])
  })

  it('scaled by a factor round halves to even', async () => {
    const odd = { samples: zeros([2, 4, 5, 7]) }
    const result = await firstOf<{ samples: Tensor }>(latentUpscaleBy, { ...values, samples: odd, scale_by: 1.5 })
    expect(result.samples.dims).toEqual([2, 4, 8, 10])
  })

  it('take a mask with a channel axis', async () => {
    const result = await firstOf(setLatentNoiseMask, { samples: latent, mask: filled([2, 8, 6], 0.5) })
    expect(result).toMatchObject({ samples, batchIndex: [3], noiseMask: { dims: [2, 1, 8, 6] } })
  })
})

describe('plain pictures', () => {
  it('are of the colour asked for', async () => {
    const { dims, data } = await firstOf<Tensor>(emptyImage, { width: 3, height: 2, batch_size: 2, color: 0xff8000 })
    expect(dims).toEqual([2, 2, 3, 3])
    expect([...data.subarray(33)]).toEqual([1, Math.fround(128 / 255), 0])
  })

  it('are turned around', async () => {
    const { data } = await firstOf<Tensor>(imageInvert, {
      image: tensor([1, 1, 1, 3], Float32Array.from([0, 0.25, 1])),
    })
    expect([...data]).toEqual([1, 0.75, 0])
  })
})

describe('pictures that leave the graph', () => {
  const images = filled([2, 4, 4, 3], 0.5)

  it('are handed to the host to keep', async () => {
    expect(await run(saveImage, { images, filename_prefix: 'a/%year%' })).toEqual({
      values: [],
      artifacts: [{ kind: 'image', pixels: images, prefix: 'a/%year%', retention: 'output' }],
    })
  })

  it('are only shown by a preview', async () => {
    const { artifacts } = await run(previewImage, { images })
    expect(artifacts).toEqual([{ kind: 'image', pixels: images, prefix: 'ComfyUI_temp', retention: 'temp' }])
  })
})

describe('pictures that enter the graph', async () => {
  const translucent = await sharp(Uint8Array.from([255, 0, 51, 51]), { raw: { width: 1, height: 1, channels: 4 } })
    .png()
    .toBuffer()
  const opaque = await sharp({ create: { width: 3, height: 2, channels: 3, background: '#ff0033' } })
    .png()
    .toBuffer()

  it('bring what is transparent as a mask, or an empty one of 64 × 64', async () => {
    const { load, context } = await room({ 'a.png': translucent, 'b.png': opaque })
    const [pixels, mask] = (await load.run({ image: 'a.png' }, context)).values as [Tensor, Tensor]
    expect([...pixels.data]).toEqual([1, 0, Math.fround(0.2)])
    expect(mask.dims).toEqual([1, 1, 1])
    expect(mask.data[0]).toBeCloseTo(0.8, 6)
    const [, empty] = (await load.run({ image: 'b.png' }, context)).values as [Tensor, Tensor]
    expect(empty).toEqual(zeros([1, 64, 64]))
  })

  it.each([
    ['alpha', 'a.png', 0.8],
    ['red', 'a.png', 1],
    ['green', 'a.png', 0],
    ['blue', 'a.png', 0.2],
    ['alpha', 'b.png', 0],
  ])('give their %s as a mask', async (channel, image, value) => {
    const { loadMask, context } = await room({ 'a.png': translucent, 'b.png': opaque })
    const [mask] = (await loadMask.run({ image, channel }, context)).values as [Tensor]
    expect(mask.dims).toEqual(image === 'a.png' ? [1, 1, 1] : [1, 2, 3])
    expect(mask.data[0]).toBeCloseTo(value, 6)
  })

  it('are looked for before anything runs', async () => {
    const { load, loadMask, images } = await room({ 'a.png': opaque })
    for (const node of [load, loadMask]) {
      expect(node.validate?.names).toEqual(['image'])
      expect(await node.validate?.check({ image: 'a.png' }, images)).toBeUndefined()
      expect(await node.validate?.check({ image: 'b.png' }, images)).toBe('Invalid image file: b.png')
    }
  })

  it('have a fingerprint that follows their content', async () => {
    const { load, context, input } = await room({ 'a.png': opaque })
    const before = await load.fingerprint?.({ image: 'a.png' }, context)
    await writeFile(join(input, 'a.png'), translucent)
    expect(await load.fingerprint?.({ image: 'a.png' }, context)).not.toBe(before)
  })

  it('are offered by name', async () => {
    const { load } = await room({ 'b.png': opaque, 'a.webp': opaque, 'c.txt': opaque })
    const { image } = load.inputs
    expect(image?.kind === 'widget' && (await image.widget.choices?.())).toEqual(['a.webp', 'b.png'])
  })
})

interface Interface {
  readonly category: string
  readonly input: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly output: readonly string[]
  readonly output_name: readonly string[]
  readonly output_node: boolean
}
const interfaces = (
  JSON.parse(readFileSync('test/fixtures/goldens/node-interfaces.json', 'utf8')) as {
    readonly nodes: Readonly<Record<string, Interface>>
  }
).nodes

describe('the interface', () => {
  const nothing = catalogueOf(async () => [])
  const nodes: readonly AnyNode[] = [
    ...[
      loadImage(nothing),
      loadImageMask(nothing),
      imageScale,
      imageScaleBy,
      imageInvert,
      emptyImage,
      saveImage,
      previewImage,
    ],
    ...[latentUpscale, latentUpscaleBy, setLatentNoiseMask],
  ]

  it.each(nodes.map((node) => [node.type, node] as const))('of %s is that of the reference', async (type, node) => {
    const expected = interfaces[type]!
    const required: Record<string, unknown> = {}
    const hidden: Record<string, string> = {}
    for (const [name, input] of Object.entries(node.inputs)) {
      if (input.kind === 'hidden') hidden[name] = input.of
      if (input.kind === 'link') required[name] = [input.socket.name, {}]
      if (input.kind === 'widget') {
        const { type, options, choices } = input.widget
        const files = 'image_upload' in options ? { x_files: 'input:image' } : {}
        required[name] = [(await choices?.()) ?? type, { ...options, ...files }]
      }
    }
    // Compared as text, because the order of keys is part of the interface.
    expect(JSON.stringify({ required, ...(Object.keys(hidden).length > 0 && { hidden }) })).toBe(
      JSON.stringify(expected.input),
    )
    expect(node.category).toBe(expected.category)
    expect(node.outputs.map(({ socket }) => socket.name)).toEqual(expected.output)
    expect(node.outputs.map(({ name }) => name)).toEqual(expected.output_name)
    expect(node.output).toBe(expected.output_node)
  })
})
