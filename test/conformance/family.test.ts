import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadFamilies } from '../../src/workload/families/support/model-store.ts'
import type { Checkpoint, ModelInputs } from '../../src/workload/model/ports.ts'
import { createGenerator } from '../../src/workload/tensor/random.ts'
import { rowsOf, stackRows, takeRows } from '../../src/workload/tensor/rows.ts'
import type { Tensor } from '../../src/workload/tensor/tensor.ts'
import { openSafetensors, readTensor } from '../../src/workload/weights/safetensors.ts'
import { emptyFolder, sharedFolder } from '../support/folder.ts'
import { bundledCheckpoint, openCheckpoint } from '../support/models.ts'
import { checkpointWriter, type Kind, plans } from '../support/random-checkpoints.ts'
import { type Stored, writeSafetensors } from '../support/safetensors.ts'

const worst = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))
const size = { height: 16, width: 12 }
const latents = createGenerator(1n).randn([3, 4, size.height, size.width])
const timesteps = [999, 500, 3]

const checkpointOf = checkpointWriter(sharedFolder())

/** A file of each kind of network that a family opens; a new family needs one here. */
const samples = [
  { what: 'the bundled model', family: 'sd1', file: async () => bundledCheckpoint },
  ...Object.entries(plans).map(([what, { family }]) => ({
    what,
    family,
    file: () => checkpointOf(what as Kind), // the keys of `plans`
  })),
]

it('every family has a sample', async () => {
  expect([...new Set(samples.map(({ family }) => family))].toSorted()).toEqual(
    [...(await loadFamilies()).keys()].toSorted(),
  )
})

/** The inputs for three texts, one a row. */
async function rowInputs({ model, clip }: Checkpoint): Promise<readonly ModelInputs[]> {
  const texts = ['a red house', 'the sea at night', '']
  const entries = await Promise.all(texts.map(async (text) => (await clip!.encode(text))[0]!))
  return entries.map((entry) => model.inputsFor(entry, size))
}

describe.each(samples)('$what', ({ family, file }) => {
  let checkpoint: Awaited<ReturnType<typeof openCheckpoint>>
  beforeAll(async () => {
    checkpoint = await openCheckpoint(await file())
  })

  it(`is recognised by ${family} and by no other`, async () => {
    expect(checkpoint.family).toBe(family)
    const families = [...(await loadFamilies()).values()]
    const knowing = families.filter(({ matches }) => matches(checkpoint.weights.network))
    expect(knowing.map(({ name }) => name)).toEqual([family])
  })

  it('gives each row of a batched call what it would have got alone', async () => {
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
    const inputs = await rowInputs(checkpoint)
    const call = (row: number) =>
      checkpoint.model.network.predict(takeRows(latents, row, row + 1), [timesteps[row]!], inputs[row]!)
    const merged = await Promise.all([call(0), call(1), call(2)])
    for (const row of [0, 1, 2]) expect(worst(merged[row]!, await call(row))).toBeLessThan(1e-5)
  })

  it('answers to its text, to its timestep and to its picture', async () => {
    const [inputs, others] = await rowInputs(checkpoint)
    const predict = (x: Tensor, timestep: number, given: ModelInputs) =>
      checkpoint.model.network.predict(x, [timestep], given)
    const [x, y] = [takeRows(latents, 0, 1), takeRows(latents, 1, 2)]
    const base = await predict(x, 500, inputs!)
    for (const other of [predict(x, 500, others!), predict(x, 10, inputs!), predict(y, 500, inputs!)])
      expect(worst(base, await other)).toBeGreaterThan(1e-3)
    expect(Math.max(...base.data.map(Math.abs))).toBeLessThan(20)
  })
})

/** One of each family. */
const firsts = samples.filter(({ family }, i) => samples.findIndex((each) => each.family === family) === i)

describe.each(firsts)('family $family', ({ file }) => {
  it('decodes latents to pixels, and encodes pixels to latents that decode to about the same', async () => {
    const { vae } = await openCheckpoint(await file())
    const pixels = await vae!.decode(takeRows(latents, 0, 2))
    expect(pixels.dims).toEqual([2, size.height * vae!.downscale, size.width * vae!.downscale, 3])
    expect(Math.min(...pixels.data)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...pixels.data)).toBeLessThanOrEqual(1)
    expect((await vae!.encode(pixels)).dims).toEqual([2, vae!.channels, size.height, size.width])
  })
})

it.each([
  ['F32', 1e-6],
  ['BF16', 0.2],
] satisfies [Stored, number][])('the same weights stored as %s are the same network', async (dtype, tolerance) => {
  const source = await openSafetensors(bundledCheckpoint)
  const tensors = await Promise.all(
    [...source.tensors.keys()].map(async (key) => [key, await readTensor(source, key)] as const),
  )
  const path = join(await emptyFolder(), 'copy.safetensors')
  const copy = await openCheckpoint(await writeSafetensors(path, Object.fromEntries(tensors), dtype))
  const original = await openCheckpoint(bundledCheckpoint)
  const predict = async (checkpoint: Checkpoint) =>
    checkpoint.model.network.predict(takeRows(latents, 0, 1), [500], (await rowInputs(checkpoint))[0]!)
  expect(worst(await predict(copy), await predict(original))).toBeLessThan(tolerance)
})
