import { describe, expect, it } from 'vitest'
import type { Conditioning } from '../../../src/workload/model/conditioning.ts'
import type { Latent, PromptText, TextEncoder, Vae } from '../../../src/workload/model/ports.ts'
import sdxl from '../../../src/workload/nodes/clip-text-encode-sdxl.ts'
import refiner from '../../../src/workload/nodes/clip-text-encode-sdxl-refiner.ts'
import inpaint from '../../../src/workload/nodes/inpaint-model-conditioning.ts'
import instruct from '../../../src/workload/nodes/instruct-pix-to-pix-conditioning.ts'
import { filled, mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { runNode } from '../../support/node-room.ts'

const entry = { context: zeros([1, 77, 4]) }

/** An encoder that remembers what it was given. */
function remembering() {
  const texts: PromptText[] = []
  const clip: TextEncoder = {
    encode: async (text) => {
      texts.push(text)
      return [entry]
    },
    stoppingAt: () => clip,
    patched: () => clip,
  }
  return { texts, clip }
}

/** An autoencoder of 8 pixels a cell whose latents are the reds of the upper left pixels of cells. */
const vae: Vae = {
  downscale: 8,
  channels: 1,
  decode: async (latents) => latents,
  async encode({ dims: [rows = 0, height = 0, width = 0, depth = 0], data }: Tensor) {
    const [h, w] = [height / 8, width / 8]
    return mapped(zeros([rows, 1, h, w]), (_, i) => {
      const [row, y, x] = [Math.floor(i / (h * w)), Math.floor((i % (h * w)) / w) * 8, (i % w) * 8]
      return data[((row * height + y) * width + x) * depth]!
    })
  },
}

describe('text for SDXL', () => {
  it('goes to each encoder, with the sizes beside it', async () => {
    const { texts, clip } = remembering()
    const sizes = { width: 1, height: 2, crop_w: 3, crop_h: 4, target_width: 5, target_height: 6 }
    const [conditioning] = await runNode(sdxl, { clip, ...sizes, text_g: 'large', text_l: 'small' })
    expect(texts).toEqual([{ l: 'small', g: 'large' }])
    const imageSize = { width: 1, height: 2, cropW: 3, cropH: 4, targetWidth: 5, targetHeight: 6 }
    expect(conditioning).toEqual([{ ...entry, imageSize }])
  })

  it('has a beauty beside it for the refiner', async () => {
    const { texts, clip } = remembering()
    const [conditioning] = await runNode(refiner, { clip, ascore: 7.5, width: 10, height: 20, text: 'a cat' })
    expect(texts).toEqual(['a cat'])
    expect(conditioning).toEqual([{ ...entry, aestheticScore: 7.5, imageSize: { width: 10, height: 20 } }])
  })

  it('needs a text encoder', async () => {
    await expect(runNode(refiner, { clip: undefined })).rejects.toThrow('no text encoder')
  })
})

describe('pictures for models that look at one', () => {
  // 20 × 18 pixels: cells of 8 leave 4 and 2, half of which is cut off before the first cell.
  const pixels = mapped(zeros([1, 18, 20, 3]), (_, i) => (Math.floor(i / 3) % 20) / 20)
  const conditionings = { positive: [entry, entry], negative: [entry] }

  it('are encoded with the masked part greyed out and without, beside the mask', async () => {
    const mask = mapped(zeros([1, 9, 10]), (_, i) => (i % 10 < 5 ? 0.75 : 0.25))
    const values = { ...conditionings, vae, pixels, mask, noise_mask: true }
    const [positive, negative, latent] = (await runNode(inpaint, values)) as [Conditioning, Conditioning, Latent]
    expect([positive.length, negative.length]).toEqual([2, 1])
    const [left, right] = [2 / 20, 10 / 20].map(Math.fround) as [number, number]
    expect([...latent.samples.data]).toEqual([left, right, left, right])
    const { concat } = positive[0]!
    expect(negative[0]!.concat).toBe(concat)
    expect(concat!.latent.data[0]).toBe(0.5)
    expect(concat!.latent.data[1]).toBeCloseTo(right, 6)
    expect(concat!.mask!.dims).toEqual([1, 16, 16])
    expect([concat!.mask!.data[0], concat!.mask!.data[15]]).toEqual([0.75, 0.25]) // not rounded
    expect(latent.noiseMask).toEqual({ dims: [1, 1, 16, 16], data: concat!.mask!.data })
  })

  it('leave the latents without a mask when asked to', async () => {
    const values = { ...conditionings, vae, pixels, mask: filled([18, 20], 1), noise_mask: false }
    const [, , latent] = (await runNode(inpaint, values)) as [Conditioning, Conditioning, Latent]
    expect(latent).not.toHaveProperty('noiseMask')
  })

  it('stand beside empty latents for instructions', async () => {
    const result = (await runNode(instruct, { ...conditionings, vae, pixels })) as [Conditioning, Conditioning, Latent]
    const [positive, negative, latent] = result
    expect(latent).toEqual({ samples: zeros([1, 1, 2, 2]) })
    expect(positive[1]!.concat!.latent.data[0]).toBeCloseTo(2 / 20, 6)
    expect(negative[0]!.concat).not.toHaveProperty('mask')
  })
})
