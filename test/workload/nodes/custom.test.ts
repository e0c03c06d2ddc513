import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeNode } from '../../../src/workload/graph/describe.ts'
import type { Catalogue, NodeContext } from '../../../src/workload/nodes/support/define.ts'
import { loadNodes } from '../../../src/workload/nodes/support/registry.ts'
import { customNodes } from '../../support/engine.ts'
import { emptyFolder } from '../../support/folder.ts'

const catalogue: Catalogue = {
  samplers: new Map(),
  schedulers: new Map(),
  files: async (folder) => [`${folder}.safetensors`],
  inputImages: async () => [],
}

/** The nodes of the examples in the documentation. */
async function documented() {
  const folder = await emptyFolder()
  const examples = [...(await readFile('docs/custom-nodes.md', 'utf8')).matchAll(/```js\n(.*?)```/gs)]
  await Promise.all(examples.map(([, code], i) => writeFile(join(folder, `example-${i}.mjs`), code!)))
  return loadNodes(catalogue, folder)
}

it('the examples of the documentation are nodes, with inputs and outputs as they say', async () => {
  const nodes = await documented()
  expect(await describeNode(nodes.get('Brighten')!)).toMatchObject({
    input: {
      required: {
        image: ['IMAGE', expect.anything()],
        amount: ['FLOAT', { default: 0.1, min: 0, max: 1 }],
        mode: [['add', 'multiply'], expect.anything()],
      },
      optional: { mask: ['MASK', expect.anything()] },
    },
    output: ['IMAGE'],
    display_name: 'Brighten',
    category: 'image/adjust',
  })
  expect(await describeNode(nodes.get('PickLora')!)).toMatchObject({
    input: { required: { lora: [['loras.safetensors'], expect.anything()] } },
    output: ['MODEL', 'STRING'],
  })
  expect(nodes.get('SaveTwice')).toMatchObject({ output: true })
})

it('an output node hands its pictures to the host', async () => {
  const nodes = await loadNodes(catalogue, customNodes)
  const images = { dims: [1, 1, 1, 3], data: new Float32Array(3) }
  const context = {} as NodeContext // these nodes ask for nothing
  expect(await nodes.get('TestSave')!.run({ images, filename_prefix: 'x' }, context)).toEqual({
    values: [],
    artifacts: [{ kind: 'image', pixels: images, prefix: 'x', retention: 'output' }],
  })
  expect((await nodes.get('TestPreview')!.run({ images }, context)).artifacts).toMatchObject([{ retention: 'temp' }])
})

it.each([
  ['nothing', 'export const x = 1', 'by default'],
  ['no type', 'export default { inputs: {}, outputs: [], run() {} }', '`type`'],
  ['no run', `export default { type: 'A', inputs: {}, outputs: [] }`, '`run`'],
  ['no outputs', `export default { type: 'A', inputs: {}, run() {} }`, '`outputs`'],
  ['an input that is none', `export default { type: 'A', inputs: { x: 1 }, outputs: [], run() {} }`, 'input x'],
  ['a repeated name', `export default { type: 'KSampler', inputs: {}, outputs: [], run() {} }`, 'KSampler'],
])('a file that exports %s stops the start, with its path', async (_what, code, reason) => {
  const file = join(await emptyFolder(), 'mine.mjs')
  await writeFile(file, code)
  const loading = loadNodes(catalogue, join(file, '..'))
  await expect(loading).rejects.toThrow(file)
  await expect(loading).rejects.toThrow(reason)
})
