import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fetchModels, type ManifestDeps, readManifest } from '../../../src/workload/jobs/manifest.ts'
import { createModelSources } from '../../../src/workload/media/model-source.ts'
import { fetchHere, oneAfterTheOther, quiet, serveFile, startSite } from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

const places = { modelDir: '/models', home: '/home' }
const url = 'https://models.test/a.safetensors'
const read = (manifest: unknown) => readManifest({ file: undefined, json: JSON.stringify(manifest) }, places)

describe('a manifest', () => {
  it('says what is to come before and after the start, and what of it means nothing here', async () => {
    const manifest = await read({
      apt: ['curl'],
      pip: ['torch'],
      custom_nodes: null,
      models: {
        before_start: [{ url, local_path: 'models/checkpoints/a.safetensors' }],
        after_start: [{ url, local_path: 'loras/a.safetensors' }],
      },
    })
    expect(manifest).toEqual({
      before: [{ url, path: '/models/checkpoints/a.safetensors' }],
      after: [{ url, path: '/models/loras/a.safetensors' }],
      warnings: ['apt is ignored: no Python runs here', 'pip is ignored: no Python runs here'],
    })
    expect(await read({})).toEqual({ before: [], after: [], warnings: [] })
  })

  it.each([
    ['/models/vae/a.sft', '/models/vae/a.sft'],
    ['/home/models/vae/a.sft', '/models/vae/a.sft'],
    ['/home/input/a.png', '/home/input/a.png'],
    ['vae/../vae/a.sft', '/models/vae/a.sft'],
  ])('puts %s to %s', async (local_path, path) => {
    expect(await read({ models: { after_start: [{ url, local_path }] } })).toMatchObject({ after: [{ path }] })
  })

  it('is refused with all that is wrong with it', async () => {
    const models = ['../a.sft', '/etc/passwd', 'models/../../x'].map((local_path) => ({ url, local_path }))
    const refused = read({ models: { before_start: models } })
    for (const text of ['MANIFEST_JSON', ...models.map(({ local_path }) => local_path)])
      await expect(refused).rejects.toThrow(text)
    await expect(read({ models: { before_start: [{ url: 'ftp://x', local_path: 'a' }] } })).rejects.toThrow(
      'models.before_start.0.url',
    )
  })

  it('is a file in YAML or JSON, unless it stands in the environment', async () => {
    const folder = await emptyFolder()
    const entry = { url, local_path: 'loras/a.sft' }
    const yaml = `models:\n  before_start:\n    - url: ${url}\n      local_path: loras/a.sft\n  after_start:\n`
    for (const [name, text] of [
      ['m.yml', yaml],
      ['m.json', JSON.stringify({ models: { before_start: [entry] } })],
    ]) {
      await writeFile(join(folder, name!), text!)
      const manifest = await readManifest({ file: join(folder, name!), json: undefined }, places)
      expect(manifest.before).toEqual([{ url, path: '/models/loras/a.sft' }])
    }
    expect(await readManifest({ file: join(folder, 'm.yml'), json: '{}' }, places)).toMatchObject({ before: [] })
    await expect(readManifest({ file: '/nowhere.yml', json: undefined }, places)).rejects.toThrow('/nowhere.yml')
  })
})

describe('the models of a manifest', () => {
  async function bringing(more: Partial<ManifestDeps> = {}) {
    const folder = await emptyFolder()
    const said: string[] = []
    const signal = new AbortController().signal
    const deps: ManifestDeps = {
      ...{ fetchFile: fetchHere(), sources: createModelSources(folder), now: Date.now, signal, ...quiet },
      say: (line) => said.push(line),
      firstPauseMs: 10,
      ...more,
    }
    return { path: join(folder, 'loras/a.sft'), said, deps }
  }

  it('are brought here once, and again when the manifest names another URL', async () => {
    const site = await startSite(({ url: asked }, response) => response.end(asked))
    const { path, deps } = await bringing()
    await fetchModels([{ url: `${site.origin}/1`, path }], true, deps)
    await fetchModels([{ url: `${site.origin}/1`, path }], true, deps)
    expect([await readFile(path, 'utf8'), site.asked.length]).toEqual(['/1', 1])
    await fetchModels([{ url: `${site.origin}/2`, path }], true, deps)
    expect(await readFile(path, 'utf8')).toBe('/2')
  })

  it('leave alone what somebody put there', async () => {
    const site = await startSite(serveFile(Buffer.from('other')))
    const { path, deps } = await bringing()
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'mine')
    await fetchModels([{ url: `${site.origin}/1`, path }], true, deps)
    expect([await readFile(path, 'utf8'), site.asked.length]).toEqual(['mine', 0])
  })

  it('are waited for when they must be there, and people are told why', async () => {
    const refuse = (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      response.writeHead(403).end()
    const site = await startSite(oneAfterTheOther(refuse, serveFile(Buffer.from('model'))))
    const { path, said, deps } = await bringing()
    await fetchModels([{ url: `${site.origin}/1?token=secret`, path }], true, deps)
    expect(await readFile(path, 'utf8')).toBe('model')
    expect(said).toEqual([expect.stringMatching(/^not ready: .*a\.sft is not here: .*403/)])
    expect(said.join()).not.toContain('secret')
  })

  it('are given up when they need not', async () => {
    const site = await startSite((_, response) => void response.writeHead(403).end())
    const { path, said, deps } = await bringing()
    await fetchModels([{ url: `${site.origin}/1`, path }], false, deps)
    expect([site.asked.length, said]).toEqual([1, []])
  })
})
