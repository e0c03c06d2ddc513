import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AppliedPatch } from '../../../src/workload/model/patches.ts'
import type { Checkpoint, ModelInputs } from '../../../src/workload/model/ports.ts'
import { discreteSampling } from '../../../src/workload/sampling/model-sampling.ts'
import { createGenerator } from '../../../src/workload/tensor/random.ts'
import { stackRows, takeRows } from '../../../src/workload/tensor/rows.ts'
import { filled, type Tensor } from '../../../src/workload/tensor/tensor.ts'
import { emptyFolder } from '../../support/folder.ts'
import { storeOver } from '../../support/model-store.ts'
import { writeOnnxFolder } from '../../support/onnx-export.ts'
import { writeSafetensors } from '../../support/safetensors.ts'
import { type TinyKind, tinyCheckpoint, tinyWeights } from '../../support/tiny-checkpoints.ts'

const worst = (a: Tensor, b: Tensor) => {
  expect(a.dims).toEqual(b.dims)
  return Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
}
const x = createGenerator(3n).randn([3, 4, 8, 8])

/** Model folders with `kind` as one checkpoint and as a folder of ONNX networks. */
async function modelsOf(kind: TinyKind): Promise<string> {
  const root = await emptyFolder()
  const weights = tinyWeights(kind)
  await mkdir(join(root, 'checkpoints'))
  await writeSafetensors(join(root, 'checkpoints/one.safetensors'), tinyCheckpoint(kind, weights))
  await writeOnnxFolder(join(root, 'diffusers/onnx'), kind, weights)
  await writeFile(join(root, 'diffusers/onnx/model_index.json'), '{}')
  return root
}

describe.each(['sd1', 'sd2', 'sdxl'] satisfies TinyKind[])('a folder of ONNX networks of %s', (kind) => {
  it('computes what the same weights in a checkpoint compute', async () => {
    const store = await storeOver(await modelsOf(kind))
    const [onnx, one] = await Promise.all([store.diffusers('onnx'), store.checkpoint('one.safetensors')])
    const texts = ['a (red:1.3) house', 'the sea']
    const inputs = async ({ model, clip }: Checkpoint, text: string) => {
      const [entry] = await clip!.encode(text)
      return { entry: entry!, inputs: model.inputsFor(entry!, { height: 8, width: 8 }) }
    }
    const [ofOnnx, ofOne] = await Promise.all(
      [onnx, one].map((checkpoint) => Promise.all(texts.map((text) => inputs(checkpoint, text)))),
    )
    for (const [i, { entry }] of ofOnnx!.entries()) {
      expect(worst(entry.context, ofOne![i]!.entry.context)).toBeLessThan(1e-5)
      if (kind === 'sdxl') expect(worst(entry.pooled!, ofOne![i]!.entry.pooled!)).toBeLessThan(1e-5)
    }

    // Three rows at two timesteps, of which an exported network takes one a run.
    const stacked = (rows: readonly { readonly inputs: ModelInputs }[]): ModelInputs =>
      Object.fromEntries(
        Object.keys(rows[0]!.inputs).map((name) => {
          const parts = [rows[0]!, rows[1]!, rows[0]!].map((row) => row.inputs[name]!)
          return [name, stackRows(parts, parts.length)]
        }),
      )
    const predicted = await onnx.model.network.predict(x, [500, 3, 500], stacked(ofOnnx!))
    const expected = await one.model.network.predict(x, [500, 3, 500], stacked(ofOne!))
    expect(worst(predicted, expected)).toBeLessThan(1e-5)
    const alone = onnx.model.network.predict(takeRows(x, 1, 2), [3], ofOnnx![1]!.inputs)
    const besides = onnx.model.network.predict(takeRows(x, 0, 1), [500], ofOnnx![0]!.inputs)
    expect(worst(await alone, takeRows(expected, 1, 2))).toBeLessThan(1e-5)
    expect(worst(await besides, takeRows(expected, 0, 1))).toBeLessThan(1e-5)

    const latents = takeRows(x, 0, 2)
    const pixels = await one.vae!.decode(latents)
    expect(worst(await onnx.vae!.decode(latents), pixels)).toBeLessThan(1e-5)
    expect(worst(await onnx.vae!.encode(pixels), await one.vae!.encode(pixels))).toBeLessThan(1e-5)
    expect({ ...onnx.vae }).toMatchObject({ downscale: 8, channels: 4 })
  })
})

describe('a folder of ONNX networks', () => {
  const opened = async (change: (folder: string) => Promise<unknown> = async () => undefined): Promise<Checkpoint> => {
    const root = await modelsOf('sd1')
    await change(join(root, 'diffusers/onnx'))
    return (await storeOver(root)).diffusers('onnx')
  }

  it('is trained as its scheduler says', async () => {
    const { model } = await opened(async (folder) => {
      await mkdir(join(folder, 'scheduler'))
      await writeFile(join(folder, 'scheduler/scheduler_config.json'), '{"prediction_type":"v_prediction"}')
    })
    expect(model.sampling.denoised(x, x, 2)).toEqual(discreteSampling({ prediction: 'v' }).denoised(x, x, 2))
  })

  it('refuses changes to its networks and layers it does not give, and says what it is', async () => {
    const { model, clip } = await opened()
    const patches: readonly AppliedPatch[] = [{ patch: { key: 'a' }, strength: 1 }]
    const refusal = /onnx.* is an ONNX network/
    expect(() => model.network.patched(patches)).toThrow(refusal)
    expect(() => model.network.altered({ kind: 'freeU', version: 1, b1: 1, b2: 1, s1: 1, s2: 1 })).toThrow(/freeU/)
    expect(() => clip!.patched(patches)).toThrow(refusal)
    const control = { middle: filled([1, 64, 4, 4], 0) }
    const context = filled([1, 77, 32], 0)
    await expect(model.network.predict(takeRows(x, 0, 1), [3], { context }, { control })).rejects.toThrow(/control/)
    await expect(clip!.stoppingAt(-2).encode('a')).rejects.toThrow(/does not give layer -2/)
    expect(model.network.patched([])).toBe(model.network)
  })

  it('is a model without the parts that are not there', async () => {
    const { clip, vae } = await opened(async (folder) => {
      await rm(join(folder, 'text_encoder'), { recursive: true })
      await rm(join(folder, 'vae_encoder'), { recursive: true })
    })
    expect(clip).toBeUndefined()
    await expect(vae!.encode(filled([1, 64, 64, 3], 0))).rejects.toThrow('onnx has no vae_encoder/model.onnx')
  })

  it('says so when its UNet is no ONNX file', async () => {
    const broken = opened((folder) => writeFile(join(folder, 'unet/model.onnx'), 'not a model'))
    await expect(broken).rejects.toMatchObject({
      code: 'execution-failed',
      message: expect.stringContaining('not a usable ONNX file'),
    })
  })
})
