import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createModelFolders } from '../../../src/workload/weights/model-folders.ts'
import { emptyFolder } from '../../support/folder.ts'

it('lists model files below a folder and through links, sorted, and nothing else', async () => {
  const root = await emptyFolder()
  const blobs = await emptyFolder()
  await mkdir(join(root, 'loras/sub'), { recursive: true })
  for (const name of ['b.safetensors', 'sub/a.sft', 'readme.txt', '.hidden.safetensors'])
    await writeFile(join(root, 'loras', name), '')
  await writeFile(join(blobs, 'x.safetensors'), '')
  await symlink(blobs, join(root, 'loras/linked'))
  await symlink(root, join(blobs, 'circle'))
  const folders = createModelFolders(root)
  expect(await folders.list('loras')).toEqual(['b.safetensors', 'linked/x.safetensors', 'sub/a.sft'])
  expect(await folders.list('vae')).toEqual([])
})

it('finds only what it lists, so that no name leads out of the folder', async () => {
  const root = await emptyFolder()
  await mkdir(join(root, 'clip'))
  await writeFile(join(root, 'clip/t.safetensors'), '')
  await writeFile(join(root, 'secret.safetensors'), '')
  const folders = createModelFolders(root)
  expect(await folders.find('text_encoders', 't.safetensors')).toBe(join(root, 'clip/t.safetensors'))
  expect(await folders.find('clip', 't.safetensors')).toBe(join(root, 'clip/t.safetensors'))
  for (const name of ['../secret.safetensors', '/etc/passwd', 'none.safetensors'])
    expect(await folders.find('text_encoders', name)).toBeUndefined()
})

it('lists and finds a folder of diffusers by its index file', async () => {
  const root = await emptyFolder()
  for (const folder of ['a/unet', 'sub/b', 'none']) await mkdir(join(root, 'diffusers', folder), { recursive: true })
  for (const file of ['a/model_index.json', 'a/unet/w.safetensors', 'sub/b/model_index.json', 'model_index.json'])
    await writeFile(join(root, 'diffusers', file), '{}')
  const folders = createModelFolders(root)
  expect(await folders.list('diffusers')).toEqual(['a', 'sub/b'])
  expect(await folders.find('diffusers', 'sub/b')).toBe(join(root, 'diffusers/sub/b'))
  for (const name of ['none', '', '.', 'a/unet', '../diffusers/a'])
    expect(await folders.find('diffusers', name)).toBeUndefined()
})

it('looks among fetched files first, whose names stand for their URLs', async () => {
  const [root, cache] = [await emptyFolder(), await emptyFolder()]
  for (const folder of [root, cache]) {
    await mkdir(join(folder, 'loras'))
    await writeFile(join(folder, 'loras/a.sft'), '')
  }
  await writeFile(join(cache, 'loras/b.sft'), '')
  await writeFile(join(cache, 'loras/c.sft.host-1.part'), '')
  const folders = createModelFolders(root, cache)
  expect(await folders.list('loras')).toEqual(['a.sft', 'b.sft'])
  expect(await folders.find('loras', 'a.sft')).toBe(join(cache, 'loras/a.sft'))
  expect(await createModelFolders(root).find('loras', 'b.sft')).toBeUndefined()
})
