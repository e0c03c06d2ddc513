import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DiffusionModel, ModelStore, TextEncoder } from '../../../src/workload/model/ports.ts'
import clipAttentionMultiply from '../../../src/workload/nodes/clip-attention-multiply.ts'
import clipMergeAdd from '../../../src/workload/nodes/clip-merge-add.ts'
import clipMergeSimple from '../../../src/workload/nodes/clip-merge-simple.ts'
import clipMergeSubtract from '../../../src/workload/nodes/clip-merge-subtract.ts'
import modelMergeAdd from '../../../src/workload/nodes/model-merge-add.ts'
import modelMergeBlocks from '../../../src/workload/nodes/model-merge-blocks.ts'
import modelMergeSd1 from '../../../src/workload/nodes/model-merge-sd1.ts'
import modelMergeSimple from '../../../src/workload/nodes/model-merge-simple.ts'
import modelMergeSubtract from '../../../src/workload/nodes/model-merge-subtract.ts'
import { unetParts } from '../../../src/workload/nodes/support/block-merge.ts'
import unetCrossAttentionMultiply from '../../../src/workload/nodes/u-net-cross-attention-multiply.ts'
import unetSelfAttentionMultiply from '../../../src/workload/nodes/u-net-self-attention-multiply.ts'
import { tensor } from '../../../src/workload/tensor/tensor.ts'
import { drawn, relative } from '../../support/lora-files.ts'
import { storeOver } from '../../support/model-store.ts'
import { type AnyNode, firstOf } from '../../support/node-room.ts'
import type { Weights } from '../../support/random-checkpoints.ts'
import { writeSafetensors } from '../../support/safetensors.ts'
import { tinyCheckpoint, tinyWeights } from '../../support/tiny-checkpoints.ts'

const first = tinyCheckpoint('sd1', tinyWeights('sd1'))
/** Other values in the same places. */
const second: Weights = Object.fromEntries(
  Object.entries(first).map(([name, { dims, data }]) => [
    name,
    tensor(
      dims,
      data.map((x, i) => x * (1 + 0.1 * Math.sin(i))),
    ),
  ]),
)
/** Both, value by value, joined as `rule` says of the weight's name. */
const mixed = (rule: (a: number, b: number, name: string) => number): Weights =>
  Object.fromEntries(
    Object.entries(first).map(([name, { dims, data }]) => [
      name,
      tensor(
        dims,
        data.map((a, i) => rule(a, second[name]!.data[i]!, name)),
      ),
    ]),
  )
const blockRatio = (name: string) => {
  const [, part] = /^model\.diffusion_model\.(middle|out)/.exec(name) ?? []
  return part === 'middle' ? 0.5 : part === 'out' ? 0.9 : 0.2
}
const times = (factor: number, pattern: RegExp) => mixed((a, _b, name) => (pattern.test(name) ? a * factor : a))

/** What each node is to make of the weights. */
const goals: Readonly<
  Record<string, readonly [node: AnyNode, values: Readonly<Record<string, number>>, goal: Weights]>
> = {
  'ModelMergeSimple mixes': [modelMergeSimple, { ratio: 0.3 }, mixed((a, b) => 0.3 * a + 0.7 * b)],
  'ModelMergeAdd adds': [modelMergeAdd, {}, mixed((a, b) => a + b)],
  'ModelMergeSubtract subtracts': [modelMergeSubtract, { multiplier: 8 }, mixed((a, b) => 8 * (a - b))],
  'ModelMergeSD1 mixes each block by itself': [
    modelMergeSd1,
    Object.fromEntries(unetParts(12, '.').map((part, i) => [part, i / 40])),
    mixed((a, b, name) => {
      const parts = unetParts(12, '.')
      const at = parts.findIndex((part) => name.startsWith(`model.diffusion_model.${part}`))
      const ratio = Math.max(at, 0) / 40
      return ratio * a + (1 - ratio) * b
    }),
  ],
  'ModelMergeBlocks mixes each part by itself': [
    modelMergeBlocks,
    { input: 0.2, middle: 0.5, out: 0.9 },
    mixed((a, b, name) => blockRatio(name) * a + (1 - blockRatio(name)) * b),
  ],
  'UNetSelfAttentionMultiply multiplies': [
    unetSelfAttentionMultiply,
    { q: 1.5, k: 1, v: 1, out: 1 },
    times(1.5, /attn1\.to_q/),
  ],
  'UNetCrossAttentionMultiply multiplies': [
    unetCrossAttentionMultiply,
    { q: 1, k: 1, v: 1, out: 0.5 },
    times(0.5, /attn2\.to_out/),
  ],
  'CLIPMergeSimple mixes': [clipMergeSimple, { ratio: 0.3 }, mixed((a, b) => 0.3 * a + 0.7 * b)],
  'CLIPMergeAdd adds': [clipMergeAdd, {}, mixed((a, b) => a + b)],
  'CLIPMergeSubtract subtracts': [clipMergeSubtract, { multiplier: 5 }, mixed((a, b) => 5 * (a - b))],
  'CLIPAttentionMultiply multiplies': [clipAttentionMultiply, { q: 1, k: 1, v: 2, out: 1 }, times(2, /v_proj/)],
}

let root: string
let store: ModelStore
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'easel-'))
  await mkdir(join(root, 'checkpoints'))
  const files = {
    first,
    second,
    ...Object.fromEntries(Object.entries(goals).map(([name, [, , goal]]) => [name, goal])),
  }
  for (const [name, weights] of Object.entries(files))
    await writeSafetensors(join(root, 'checkpoints', `${name}.safetensors`), weights)
  store = await storeOver(root)
})
afterAll(() => rm(root, { recursive: true, force: true }))

const latents = drawn({ x: [1, 4, 8, 8] }, 3).x!
const context = drawn({ context: [1, 7, 32] }, 3).context!
const predict = ({ network }: DiffusionModel) => network.predict(latents, [400], { context })
const encode = async (clip: TextEncoder | undefined) => (await clip!.encode('a red house'))[0]!.context
const open = (name: string) => store.checkpoint(`${name}.safetensors`)

it.each(Object.keys(goals))('%s', async (what) => {
  const [node, values] = goals[what]!
  const [one, two, goal] = await Promise.all([open('first'), open('second'), open(what)])
  if (node.type.includes('CLIP')) {
    const given = { clip: one.clip, clip1: one.clip, clip2: two.clip }
    const made = await firstOf<TextEncoder>(node, { ...given, ...values })
    // Weights are rounded to half precision behind the change, which may go either way.
    expect(relative(await encode(made), await encode(goal.clip))).toBeLessThan(1e-3)
    return
  }
  const made = await firstOf<DiffusionModel>(node, {
    model: one.model,
    model1: one.model,
    model2: two.model,
    ...values,
  })
  expect(relative(await predict(made), await predict(goal.model))).toBeLessThan(1e-5)
  expect(relative(await predict(made), await predict(one.model))).toBeGreaterThan(1e-3)
})

it('mixes models that are mixed already', async () => {
  const [one, two] = await Promise.all([open('first'), open('second')])
  const half = { strength: 0.5, kept: 0.5 }
  const mean = one.model.network.patched([{ patch: two.model.network.asPatch!(), ...half }])
  const back = two.model.network.patched([{ patch: mean.asPatch!(), strength: 2, kept: -1 }])
  const predicted = await back.predict(latents, [400], { context })
  expect(relative(predicted, await predict(one.model))).toBeLessThan(1e-5)
})
