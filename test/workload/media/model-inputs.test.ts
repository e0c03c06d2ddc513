import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Credentials } from '../../../src/contracts/credentials.ts'
import type { Prompt } from '../../../src/contracts/prompt.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { fileInputsOf } from '../../../src/workload/graph/file-inputs.ts'
import { validate } from '../../../src/workload/graph/validate.ts'
import { createDiskCache } from '../../../src/workload/media/disk-cache.ts'
import { createModelInputs } from '../../../src/workload/media/model-inputs.ts'
import { loadCatalogue } from '../../../src/workload/nodes/support/catalogue.ts'
import { loadNodes } from '../../../src/workload/nodes/support/registry.ts'
import { fetchHere, quiet, remoteHere, serveFile, startSite } from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

let nodes: Awaited<ReturnType<typeof loadNodes>>
beforeAll(async () => {
  nodes = await loadNodes(await loadCatalogue(async () => [], '/nowhere'))
})

/** The smallest thing that begins like a safetensors file. */
const weights = Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{}')])
const folders: Readonly<Record<string, string>> = {
  CheckpointLoaderSimple: 'checkpoints',
  UNETLoader: 'diffusion_models',
  LoraLoader: 'loras',
}

async function taking() {
  const root = await emptyFolder()
  const cache = createDiskCache({
    ...{ root, maxBytes: 0, fetchFile: fetchHere(), openRemote: remoteHere(), firstPauseMs: 1, now: Date.now },
    ...quiet,
  })
  const takeInputs = createModelInputs({
    cache,
    fileInputs: async (type) => {
      const node = nodes.get(type)
      return node && fileInputsOf(node)
    },
    check(url) {
      if (url.includes('//10.')) throw new WorkloadError('url-not-allowed', 'the URL leads to a private address')
    },
  })
  const take = (prompt: Prompt, fetch = true, credentials: Credentials = []) =>
    takeInputs(prompt, { folder: root, credentials, signal: new AbortController().signal, fetch })
  return { root, take }
}
const loader = (class_type: string, inputs: Readonly<Record<string, unknown>>) => ({
  class_type,
  inputs: { ...inputs },
})

it('fetches the models that loaders name by URL into the folders where they look', async () => {
  const site = await startSite(serveFile(weights))
  const { root, take } = await taking()
  const { prompt, assumed, release } = await take({
    a: loader('CheckpointLoaderSimple', { ckpt_name: `${site.origin}/a.safetensors` }),
    b: loader('UNETLoader', { unet_name: `${site.origin}/b.sft`, weight_dtype: 'default' }),
    c: loader('LoraLoader', { lora_name: `${site.origin}/api/download/123?type=Model` }),
    d: loader('LoraLoader', { lora_name: 'here.safetensors' }),
    e: loader('CLIPTextEncode', { text: `${site.origin}/a.safetensors` }),
  })
  expect(site.asked).toHaveLength(3)
  for (const [id, extension] of [
    ['a', 'safetensors'],
    ['b', 'sft'],
    ['c', 'safetensors'],
  ] as const) {
    const { class_type, inputs } = prompt[id]!
    const name = String(Object.values(inputs)[0])
    expect(name).toMatch(new RegExp(`^[\\w-]{32}\\.${extension}$`))
    expect(assumed).toContain(name)
    await access(join(root, folders[class_type]!, name))
  }
  expect([prompt.d!.inputs.lora_name, prompt.e!.inputs.text]).toEqual([
    'here.safetensors',
    `${site.origin}/a.safetensors`,
  ])
  release()
})

it('names what it will fetch another time without asking anybody, and validation takes the names for files', async () => {
  const site = await startSite(serveFile(weights))
  const { take } = await taking()
  const { prompt, assumed } = await take(
    {
      1: loader('CheckpointLoaderSimple', { ckpt_name: `${site.origin}/a.safetensors` }),
      2: loader('VAEDecode', { samples: ['3', 0], vae: ['1', 2] }),
      3: loader('EmptyLatentImage', { width: 64, height: 64, batch_size: 1 }),
      4: loader('SaveImage', { images: ['2', 0], filename_prefix: 'x' }),
    },
    false,
  )
  expect(site.asked).toHaveLength(0)
  const host = { hasImage: async () => false }
  await expect(validate(prompt, nodes, host)).rejects.toMatchObject({ code: 'invalid-graph' })
  expect(await validate(prompt, nodes, host, undefined, undefined, assumed)).toMatchObject({ outputs: ['4'] })
})

describe('what cannot be taken', () => {
  it.each([
    ['model.ckpt', 'model-unsupported'],
    ['model.pth', 'model-unsupported'],
    ['model.zip', 'model-unsupported'],
  ])('is refused by its extension before anything is fetched: %s', async (name, code) => {
    const site = await startSite(serveFile(weights))
    const { take } = await taking()
    const location = 'prompt.a.inputs.ckpt_name'
    for (const fetch of [true, false]) {
      const taken = take({ a: loader('CheckpointLoaderSimple', { ckpt_name: `${site.origin}/${name}` }) }, fetch)
      await expect(taken).rejects.toMatchObject({ code, facts: { location } })
    }
    expect(site.asked).toHaveLength(0)
  })

  it('is refused as a repository, and as an address that is not allowed, all in one error', async () => {
    const { take } = await taking()
    const taken = take({
      a: loader('DiffusersLoader', { model_path: 'https://huggingface.co/x/y' }),
      b: loader('LoraLoader', { lora_name: 'http://10.0.0.1/a.safetensors' }),
    })
    await expect(taken).rejects.toMatchObject({
      code: 'model-unsupported',
      facts: {
        location: 'prompt.a.inputs.model_path',
        errors: {
          'prompt.a.inputs.model_path': [expect.stringContaining('not cloned')],
          'prompt.b.inputs.lora_name': [expect.stringContaining('private')],
        },
      },
    })
  })

  it('is told with the status of the other side, for every model', async () => {
    const site = await startSite(({ url }, response) => void response.writeHead(url === '/a' ? 404 : 403).end())
    const { take } = await taking()
    const taken = take({
      a: loader('CheckpointLoaderSimple', { ckpt_name: `${site.origin}/a` }),
      b: loader('DualCLIPLoader', { clip_name1: `${site.origin}/b`, clip_name2: 'x', type: 'sdxl' }),
    })
    await expect(taken).rejects.toMatchObject({
      code: 'model-unavailable',
      facts: {
        errors: {
          'prompt.a.inputs.ckpt_name': [expect.stringContaining('404')],
          'prompt.b.inputs.clip_name1': [expect.stringContaining('403')],
        },
      },
    })
  })

  it('is a page where a model should be', async () => {
    const site = await startSite((_, response) => void response.end('<!doctype html><p>sign in'))
    const { take } = await taking()
    const taken = take({ a: loader('LoraLoader', { lora_name: `${site.origin}/a.safetensors` }) })
    await expect(taken).rejects.toMatchObject({ code: 'model-unsupported' })
  })
})

it('asks with the identity that the request brings for the URL', async () => {
  const site = await startSite(serveFile(weights))
  const { take } = await taking()
  const auth = { type: 'query', query_param: 'token', query_value: 'secret' } as const
  await take({ a: loader('LoraLoader', { lora_name: `${site.origin}/a.safetensors` }) }, true, [
    { url_pattern: `${site.origin}/**`, auth },
  ])
  expect(site.asked[0]!.url).toBe('/a.safetensors?token=secret')
})
