import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadFamilies } from '../../src/workload/families/support/model-store.ts'
import type { Checkpoint, ModelInputs } from '../../src/workload/model/ports.ts'
import { createGenerator } from '../../src/workload/tensor/random.ts'
import { rowsOf, stackRows, takeRows } from '../../src/workload/tensor/rows.ts'
import type { Tensor } from '../../src/workload/tensor/tensor.ts'
import { openSafetensors, readTensor } from '../../src/workload/weights/safetensors.ts'
import { emptyFolder } from '../support/folder.ts'
import { bundledCheckpoint, openCheckpoint } from '../support/models.ts'
import { type Stored, writeSafetensors } from '../support/safetensors.ts'

/** A real file of each family; a new family needs one here. */
const samples: Readonly<Record<string, string>> = { sd1: bundledCheckpoint }

const worst = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
const size = { height: 16, width: 12 }
const latents = createGenerator(1n).randn([3, 4, size.height, size.width])
const timesteps = [999, 500, 3]

/** The inputs for three texts, one a row. */
async function rowInputs({ model, clip }: Checkpoint): Promise<readonly ModelInputs[]> {
  const texts = ['a red house', 'the sea at night', '']
  const entries = await Promise.all(texts.map(async (text) => (await clip!.encode(text))[0]!))
  return entries.map((entry) => model.inputsFor(entry, size))
}

describe.each([...(await loadFamilies()).keys()])('family %s', (name) => {
  it('recognises its file', async () => {
    expect((await openCheckpoint(samples[name]!)).family).toBe(name)
  })

  it('gives each row of a batched call what it would have got alone', async () => {
    const checkpoint = await openCheckpoint(samples[name]!)
    const { model } = checkpoint
    const inputs = await rowInputs(checkpoint)
    const stacked = Object.fromEntries(
      Object.keys(inputs[0]!).map((key) => [
        key,
        stackRows(
          inputs.map((row) => row[key]!),
          inputs.length,
        ),
      ]),
    )
    const together = await model.network.predict(latents, timesteps, stacked)
    for (let row = 0; row < rowsOf(latents); row++) {
      const alone = await model.network.predict(takeRows(latents, row, row + 1), [timesteps[row]!], inputs[row]!)
      expect(worst(takeRows(together, row, row + 1), alone)).toBeLessThan(1e-5)
    }
  })

  it('merges calls that wait at the same moment without changing their rows', async () => {
    const checkpoint = await openCheckpoint(samples[name]!)
    const inputs = await rowInputs(checkpoint)
    const call = (row: number) =>
      checkpoint.model.network.predict(takeRows(latents, row, row + 1), [timesteps[row]!], inputs[row]!)
    const merged = await Promise.all([call(0), call(1), call(2)])
    for (const row of [0, 1, 2]) expect(worst(merged[row]!, await call(row))).toBeLessThan(1e-5)
  })

  it('decodes latents to pixels, and encodes pixels to latents that decode to about the same', async () => {
    const { vae } = await openCheckpoint(samples[name]!)
    const pixels = await vae!.decode(takeRows(latents, 0, 2))
    expect(pixels.dims).toEqual([2, size.height * vae!.downscale, size.width * vae!.downscale, 3])
    expect(Math.min(...pixels.data)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...pixels.data)).toBeLessThanOrEqual(1)
    expect((await vae!.encode(pixels)).dims).toEqual([2, vae!.channels, size.height, size.width])
  })

  it.each([
    ['F32', 1e-6],
    ['BF16', 0.2],
  ] satisfies [Stored, number][])('reads the same weights stored as %s', async (dtype, tolerance) => {
    const file = await openSafetensors(samples[name]!)
    const tensors = await Promise.all([...file.tensors.keys()].map(async (key) => [key, await readTensor(file, key)]))
    const path = join(await emptyFolder(), 'copy.safetensors')
    const copy = await openCheckpoint(await writeSafetensors(path, Object.fromEntries(tensors), dtype))
    const original = await openCheckpoint(samples[name]!)
    const predict = async (checkpoint: Checkpoint) =>
      checkpoint.model.network.predict(takeRows(latents, 0, 1), [500], (await rowInputs(checkpoint))[0]!)
    expect(worst(await predict(copy), await predict(original))).toBeLessThan(tolerance)
  })
})
