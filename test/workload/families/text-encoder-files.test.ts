import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ModelStore, TextEncoder } from '../../../src/workload/model/ports.ts'
import { filled } from '../../../src/workload/tensor/tensor.ts'
import { transformersClip } from '../../support/diffusers-layout.ts'
import { emptyFolder } from '../../support/folder.ts'
import { storeOver } from '../../support/model-store.ts'
import type { Weights } from '../../support/random-checkpoints.ts'
import { writeSafetensors } from '../../support/safetensors.ts'
import { type TinyKind, tinyCheckpoint, tinyWeights } from '../../support/tiny-checkpoints.ts'

async function storeOf(files: Readonly<Record<string, Weights>>): Promise<ModelStore> {
  const root = await emptyFolder()
  for (const folder of ['checkpoints', 'text_encoders']) await mkdir(join(root, folder))
  for (const [path, weights] of Object.entries(files)) await writeSafetensors(join(root, path), weights)
  return storeOver(root)
}

const encoded = (clip: TextEncoder | undefined) => clip!.encode('a (red:1.3) house')

describe('text encoders from files of their own', () => {
  it.each([
    ['sd1', (weights: Weights) => weights],
    ['sd2', (weights: Weights) => weights],
    ['sd2', transformersClip],
  ] satisfies [TinyKind, (weights: Weights) => Weights][])(
    'are told by their weights, and encode as in a checkpoint of %s',
    async (kind, layout) => {
      const weights = tinyWeights(kind)
      const store = await storeOf({
        'checkpoints/one.safetensors': tinyCheckpoint(kind, weights),
        'text_encoders/text.safetensors': layout(weights.text),
      })
      const alone = await encoded(await store.textEncoder(['text.safetensors'], 'stable_diffusion'))
      expect(alone).toEqual(await encoded((await store.checkpoint('one.safetensors')).clip))
    },
  )

  it('are joined for SDXL in either order; OpenCLIP-G alone is the refiner’s', async () => {
    const weights = tinyWeights('sdxl')
    const store = await storeOf({
      'checkpoints/one.safetensors': tinyCheckpoint('sdxl', weights),
      'text_encoders/l.safetensors': weights.text,
      'text_encoders/g.safetensors': transformersClip(weights.text2!),
    })
    const expected = await encoded((await store.checkpoint('one.safetensors')).clip)
    for (const names of [
      ['l.safetensors', 'g.safetensors'],
      ['g.safetensors', 'l.safetensors'],
    ])
      expect(await encoded(await store.textEncoder(names, 'sdxl'))).toEqual(expected)
    const [refiner] = await encoded(await store.textEncoder(['g.safetensors'], 'stable_diffusion'))
    expect(refiner!.context.dims).toEqual([1, 77, 64])
    expect(refiner!.pooled).toEqual(expected[0]!.pooled)
  })

  it.each([
    [['l.safetensors'], 'wan', 'text encoders of type wan from 1 file are not supported'],
    [['l.safetensors', 'l.safetensors'], 'flux', 'text encoders of type flux from 2 files are not supported'],
    [
      ['l.safetensors', 'l.safetensors'],
      'sdxl',
      'SDXL needs CLIP-L and OpenCLIP-G, but l.safetensors is CLIP-L and l.safetensors is CLIP-L',
    ],
    [['w.safetensors'], 'stable_diffusion', 'w.safetensors holds no CLIP text encoder'],
    [['x.safetensors'], 'stable_diffusion', "Model in folder 'text_encoders' with filename 'x.safetensors' not found."],
  ])('are refused with a reason: %j as %s', async (names, type, fault) => {
    const store = await storeOf({
      'text_encoders/l.safetensors': tinyWeights('sd1').text,
      'text_encoders/w.safetensors': { w: filled([2], 1) },
    })
    await expect(store.textEncoder(names, type)).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining(fault),
    })
  })
})
