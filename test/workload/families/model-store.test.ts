import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createModelStore, loadFamilies } from '../../../src/workload/families/support/model-store.ts'
import { createFamilyServices } from '../../../src/workload/families/support/services.ts'
import type { ModelStore } from '../../../src/workload/model/ports.ts'
import { takeRows } from '../../../src/workload/tensor/rows.ts'
import { filled, type Tensor } from '../../../src/workload/tensor/tensor.ts'
import { createModelFolders } from '../../../src/workload/weights/model-folders.ts'
import { openSafetensors, readTensor } from '../../../src/workload/weights/safetensors.ts'
import { emptyFolder } from '../../support/folder.ts'
import { bundledCheckpoint } from '../../support/models.ts'
import { cpuRuntime } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

let weights: readonly (readonly [name: string, tensor: Tensor])[]
beforeAll(async () => {
  const file = await openSafetensors(bundledCheckpoint)
  weights = await Promise.all(
    [...file.tensors.keys()].map(async (name) => [name, await readTensor(file, name)] as const),
  )
})

/** A store over a folder with these files: path → weights by name, or the bytes of anything else. */
async function storeOf(
  files: Readonly<Record<string, Readonly<Record<string, Tensor>> | string>>,
): Promise<ModelStore> {
  const root = await emptyFolder()
  for (const folder of ['checkpoints', 'vae']) await mkdir(join(root, folder))
  for (const [path, content] of Object.entries(files)) {
    if (typeof content === 'string') await writeFile(join(root, path), content)
    else await writeSafetensors(join(root, path), content, 'F16')
  }
  const folders = createModelFolders(root)
  return createModelStore(folders, await loadFamilies(), createFamilyServices(await cpuRuntime(), folders, silentLog))
}

/** The bundled weights whose names begin with one of `prefixes`, renamed by `rename`. */
const part = (prefixes: readonly string[], rename = (name: string) => name) =>
  Object.fromEntries(
    weights.flatMap(([name, t]) => (prefixes.some((prefix) => name.startsWith(prefix)) ? [[rename(name), t]] : [])),
  )

it('opens a checkpoint without text encoder and autoencoder, and leaves those parts out', async () => {
  const store = await storeOf({ 'checkpoints/bare.safetensors': part(['model.diffusion_model.']) })
  const { model, clip, vae } = await store.checkpoint('bare.safetensors')
  expect({ clip, vae }).toEqual({ clip: undefined, vae: undefined })
  const x = filled([1, 4, 8, 8], 0.1)
  expect((await model.network.predict(x, [10], { context: filled([1, 77, 128], 0) })).dims).toEqual([1, 4, 8, 8])
})

it('opens text encoders of the oldest checkpoints, whose names lack a level', async () => {
  const renamed = (name: string) => name.replace('transformer.text_model.', 'transformer.')
  const old = part(['model.diffusion_model.', 'cond_stage_model.'], renamed)
  const store = await storeOf({
    'checkpoints/old.safetensors': old,
    'checkpoints/new.safetensors': part(['model.diffusion_model.', 'cond_stage_model.']),
  })
  const encoded = async (name: string) => (await (await store.checkpoint(name)).clip!.encode('a red house'))[0]!.context
  expect(await encoded('old.safetensors')).toEqual(await encoded('new.safetensors'))
})

it('opens an autoencoder from a file of its own, with and without the prefix of checkpoints', async () => {
  const store = await storeOf({
    'vae/own.safetensors': part(['first_stage_model.'], (name) => name.replace('first_stage_model.', '')),
    'vae/prefixed.safetensors': part(['first_stage_model.']),
  })
  const latents = filled([2, 4, 4, 4], 0.5)
  const [own, prefixed] = await Promise.all(
    ['own.safetensors', 'prefixed.safetensors'].map(async (name) => (await store.vae(name)).decode(latents)),
  )
  expect(own).toEqual(prefixed)
  expect(takeRows(own!, 0, 1).data).toEqual(takeRows(own!, 1, 2).data)
})

it.each([
  [
    'a file that is not there',
    {},
    'x.safetensors',
    "Model in folder 'checkpoints' with filename 'x.safetensors' not found.",
  ],
  ['a file that may hold code', { 'checkpoints/x.ckpt': 'pickle' }, 'x.ckpt', 'only .safetensors files are'],
  ['a file cut short', { 'checkpoints/x.safetensors': 'short' }, 'x.safetensors', 'not a usable safetensors file'],
  ['weights of nothing it knows', { 'checkpoints/x.safetensors': { w: filled([2], 1) } }, 'x.safetensors', 'sd1'],
] as const)('says what is wrong with %s', async (_what, files, name, fault) => {
  const store = await storeOf(files)
  await expect(store.checkpoint(name)).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining(fault),
  })
})

it('opens a file anew once it was replaced', async () => {
  const all = part(['model.diffusion_model.'])
  const root = await emptyFolder()
  await mkdir(join(root, 'checkpoints'))
  const path = join(root, 'checkpoints', 'x.safetensors')
  await writeSafetensors(path, all, 'F16')
  const folders = createModelFolders(root)
  const store = createModelStore(
    folders,
    await loadFamilies(),
    createFamilyServices(await cpuRuntime(), folders, silentLog),
  )
  const predict = async () =>
    (await store.checkpoint('x.safetensors')).model.network.predict(filled([1, 4, 8, 8], 1), [10], {
      context: filled([1, 77, 128], 0),
    })
  const before = await predict()
  const version = await store.version('checkpoints', 'x.safetensors')
  await writeSafetensors(path, { ...all, 'model.diffusion_model.out.2.bias': filled([4], 3) }, 'F32')
  expect((await predict()).data[0]).not.toBe(before.data[0])
  expect(await store.version('checkpoints', 'x.safetensors')).not.toBe(version)
})
