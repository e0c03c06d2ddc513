import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clipTextGraph } from '../../../src/workload/architectures/clip-text.ts'
import { cpuLowering } from '../../../src/workload/architectures/lowering-cpu.ts'
import { joinedAlong } from '../../../src/workload/tensor/axes.ts'
import { filled, mapped, type Tensor, tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { clipTextView } from '../../../src/workload/weights/checkpoint-layout.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { emptyFolder } from '../../support/folder.ts'
import { deviation, goldenModels, goldenWeight, type Summary } from '../../support/golden-models.ts'
import { sessionOf } from '../../support/runtime.ts'
import { type Stored, writeSafetensors } from '../../support/safetensors.ts'

const golden = goldenModels.clip_gelu!
const weight = (name: string) => tensor(golden.keys[name]!, goldenWeight(name, golden.keys[name]!))

/** The golden network as OpenCLIP would have stored it. */
function asOpenClip(): Record<string, Tensor> {
  const both = (from: string, to: string) => ({
    [`${to}.weight`]: weight(`${from}.weight`),
    [`${to}.bias`]: weight(`${from}.bias`),
  })
  const block = (i: number) => {
    const [from, to] = [`text_model.encoder.layers.${i}`, `transformer.resblocks.${i}`]
    const joined = (kind: string) =>
      joinedAlong(
        ['q', 'k', 'v'].map((name) => weight(`${from}.self_attn.${name}_proj.${kind}`)),
        0,
      )
    return {
      ...both(`${from}.layer_norm1`, `${to}.ln_1`),
      ...both(`${from}.layer_norm2`, `${to}.ln_2`),
      [`${to}.attn.in_proj_weight`]: joined('weight'),
      [`${to}.attn.in_proj_bias`]: joined('bias'),
      ...both(`${from}.self_attn.out_proj`, `${to}.attn.out_proj`),
      ...both(`${from}.mlp.fc1`, `${to}.mlp.c_fc`),
      ...both(`${from}.mlp.fc2`, `${to}.mlp.c_proj`),
    }
  }
  const projection = weight('text_projection.weight')
  const width = projection.dims[0]!
  return {
    'token_embedding.weight': weight('text_model.embeddings.token_embedding.weight'),
    positional_embedding: weight('text_model.embeddings.position_embedding.weight'),
    ...Object.assign({}, ...[0, 1, 2].map(block)),
    ...both('text_model.final_layer_norm', 'ln_final'),
    text_projection: mapped(projection, (_, i) => projection.data[(i % width) * width + Math.floor(i / width)]!),
    logit_scale: filled([1], 4.6),
  }
}

it.each([
  ['F32', 1e-5],
  ['F16', 3e-3],
] satisfies [Stored, number][])(
  "a text transformer in OpenCLIP's layout, stored as %s, agrees with the reference",
  async (dtype, tolerance) => {
    const path = join(await emptyFolder(), 'open.safetensors')
    const stored = Object.entries(asOpenClip()).map(([name, t]) => [`model.${name}`, t])
    const file = await openSafetensors(await writeSafetensors(path, Object.fromEntries(stored), dtype))
    const view = clipTextView(file, 'model.')!
    const session = await sessionOf(clipTextGraph(view, cpuLowering, { heads: 4, activation: 'gelu' }))
    const oneAt = (length: number, place: number) => mapped(zeros([1, length]), (_, i) => Number(i === place))
    const outputsAt = (layer: number) =>
      session.run({
        ids: tensor([1, 77], Float32Array.from(golden.ids as number[])), // as the goldens' schema says
        vectors: zeros([1, 77, 64]),
        kept: filled([1, 77, 1], 1),
        layer: oneAt(3, layer),
        end: oneAt(77, 8),
      })
    const [last, before] = [await outputsAt(2), await outputsAt(1)]
    const results = {
      last_ln: last.normed,
      penultimate_noln: before.hidden,
      penultimate_ln: before.normed,
      pooled_unprojected: last.pooled,
      pooled_projected: last.projected,
    }
    for (const [name, result] of Object.entries(results))
      expect(deviation(result!, golden[name] as Summary), name).toBeLessThan(tolerance)
  },
)
