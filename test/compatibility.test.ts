import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadFamilies } from '../src/workload/families/support/model-store.ts'
import { absentTypes, notOffered } from '../src/workload/nodes/support/not-offered.ts'
import { loadNodes } from '../src/workload/nodes/support/registry.ts'
import { samplerOrder, schedulerOrder } from '../src/workload/sampling/catalogue-order.ts'
import { loadSamplers } from '../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../src/workload/sampling/load-schedulers.ts'
import { createModelFolders } from '../src/workload/weights/model-folders.ts'
import { compatibilityPage } from './support/compatibility.ts'
import { readGoldens } from './support/goldens.ts'
import { modelKinds } from './support/model-kinds.ts'

const interfaces = readGoldens<{
  readonly comfyui_version: string
  readonly nodes: Readonly<Record<string, { readonly category: string }>>
}>('node-interfaces')
const upstream = new Map(Object.entries(interfaces.nodes).map(([type, { category }]) => [type, category]))
const [samplers, schedulers, families] = await Promise.all([loadSamplers(), loadSchedulers(), loadFamilies()])
const nodes = await loadNodes({ samplers, schedulers, files: async () => [], inputImages: async () => [] })
const kinds = modelKinds.flatMap((group) => group.kinds)

const made = compatibilityPage({
  version: interfaces.comfyui_version,
  upstream,
  nodes: new Set(nodes.keys()),
  notOffered,
  samplers: new Set(samplers.keys()),
  upstreamSamplers: samplerOrder,
  schedulers: new Set(schedulers.keys()),
  upstreamSchedulers: schedulerOrder,
  models: modelKinds,
})

describe('the page on compatibility', () => {
  // `npm run compatibility` writes it anew.
  it('says what the code offers', async () => {
    await expect(made).toMatchFileSnapshot('../docs/compatibility.md')
  })

  it('gives every node of ComfyUI either a place or the reason why it has none', () => {
    const silent = [...upstream.keys()].filter((type) => !nodes.has(type) && !absentTypes.has(type))
    expect(silent, 'add a file to src/workload/nodes, or a reason to support/not-offered.ts').toEqual([])
    const both = [...absentTypes.keys()].filter((type) => nodes.has(type))
    expect(both, 'these are here now: take them out of support/not-offered.ts').toEqual([])
    expect([...absentTypes.keys()].filter((type) => !upstream.has(type))).toEqual([])
    expect(notOffered.flatMap(({ types }) => types)).toHaveLength(absentTypes.size)
  })

  it('names every node, sampler and scheduler that was discovered', () => {
    for (const name of [...nodes.keys(), ...samplers.keys(), ...schedulers.keys()])
      expect(made).toContain(`\`${name}\``)
  })

  it('names every model family that was discovered and no other', () => {
    const named = kinds.flatMap(({ family }) => (family === undefined ? [] : [family]))
    expect(named.toSorted()).toEqual([...families.keys()].toSorted())
  })

  it('says of no model that it runs without a test that shows it', () => {
    for (const { what, supported, proof } of kinds)
      expect(supported, `${what}: ${proof}`).toBe(proof !== undefined && existsSync(proof))
  })

  it('names folders that the server looks into', () => {
    const { names } = createModelFolders('models')
    for (const { folder } of kinds) if (folder !== undefined) expect(names).toContain(folder)
  })
})
