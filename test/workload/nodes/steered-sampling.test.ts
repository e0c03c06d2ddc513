import { mkdir, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createModelStore, loadFamilies } from '../../../src/workload/families/support/model-store.ts'
import { createFamilyServices } from '../../../src/workload/families/support/services.ts'
import { createImageSource } from '../../../src/workload/image/load.ts'
import type { Conditioning } from '../../../src/workload/model/conditioning.ts'
import type { ControlModel } from '../../../src/workload/model/control.ts'
import type { DiffusionModel, Latent, ModelStore, TextEncoder } from '../../../src/workload/model/ports.ts'
import checkpointLoader from '../../../src/workload/nodes/checkpoint-loader-simple.ts'
import clipTextEncode from '../../../src/workload/nodes/clip-text-encode.ts'
import controlNetApply from '../../../src/workload/nodes/control-net-apply.ts'
import controlNetApplyAdvanced from '../../../src/workload/nodes/control-net-apply-advanced.ts'
import controlNetLoader from '../../../src/workload/nodes/control-net-loader.ts'
import freeU from '../../../src/workload/nodes/free-u.ts'
import hyperTile from '../../../src/workload/nodes/hyper-tile.ts'
import kSampler from '../../../src/workload/nodes/k-sampler.ts'
import patchModelAddDownscale from '../../../src/workload/nodes/patch-model-add-downscale.ts'
import { loadSamplers } from '../../../src/workload/sampling/load-samplers.ts'
import { loadSchedulers } from '../../../src/workload/sampling/load-schedulers.ts'
import { mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { createModelFolders } from '../../../src/workload/weights/model-folders.ts'
import { openSafetensors } from '../../../src/workload/weights/safetensors.ts'
import { sharedFolder } from '../../support/folder.ts'
import { goldenWeight } from '../../support/golden-models.ts'
import { bundledCheckpoint } from '../../support/models.ts'
import type { AnyNode } from '../../support/node-room.ts'
import { cpuRuntime } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'

const folder = sharedFolder()
let models: ModelStore
let model: DiffusionModel
let positive: Conditioning
let negative: Conditioning
let control: ControlModel
const catalogue = {
  samplers: await loadSamplers(),
  schedulers: await loadSchedulers(),
  files: async () => [],
  inputImages: async () => [],
}
/** A gradient, `[1, H, W, 3]`. */
const image = mapped(zeros([1, 128, 128, 3]), (_, i) => (i % 384) / 384)

beforeAll(async () => {
  await Promise.all(['checkpoints', 'controlnet'].map((name) => mkdir(join(folder(), name))))
  await symlink(resolve(bundledCheckpoint), join(folder(), 'checkpoints', 'demo.safetensors'))
  await writeControlNetFor(join(folder(), 'controlnet', 'gradient.safetensors'))
  const folders = createModelFolders(folder())
  const services = createFamilyServices(await cpuRuntime(), folders, silentLog)
  models = createModelStore(folders, await loadFamilies(), services)
  const loaded = await run(checkpointLoader(catalogue), { ckpt_name: 'demo.safetensors' })
  model = loaded[0] as DiffusionModel
  const clip = loaded[1] as TextEncoder
  const encode = async (text: string) => (await run(clipTextEncode, { text, clip }))[0] as Conditioning
  positive = await encode('a red sail')
  negative = await encode('')
  const found = await run(controlNetLoader(catalogue), { control_net_name: 'gradient.safetensors' })
  control = found[0] as ControlModel
}, 60_000)

/** A control network for the bundled model: its encoder's shapes with the goldens' values. */
async function writeControlNetFor(path: string): Promise<void> {
  const prefix = 'model.diffusion_model.'
  const shapes = new Map<string, readonly number[]>()
  for (const [name, { dims }] of (await openSafetensors(bundledCheckpoint)).tensors)
    if (/\.(input_blocks|middle_block|time_embed)\./.test(name)) shapes.set(name.slice(prefix.length), dims)
  const layer = (name: string, out: number, from: number, side: number) => {
    shapes.set(`${name}.weight`, [out, from, side, side])
    shapes.set(`${name}.bias`, [out])
  }
  const widths = [64, 64, 64, 128, 128, 128]
  for (const [i, width] of widths.entries()) layer(`zero_convs.${i}.0`, width, width, 1)
  layer('middle_block_out.0', 128, 128, 1)
  const hint = [3, 4, 4, 6, 6, 8, 8, 10, 64]
  for (let i = 0; i < 8; i++) layer(`input_hint_block.${2 * i}`, hint[i + 1]!, hint[i]!, 3)
  const tensors = [...shapes].map(([name, dims]) => [name, { dims, data: goldenWeight(name, dims) }] as const)
  await writeSafetensors(path, Object.fromEntries(tensors))
}

async function run(node: AnyNode, values: Readonly<Record<string, unknown>>): Promise<readonly unknown[]> {
  const images = createImageSource({ folders: [folder()], output: folder(), temp: folder() })
  const context = { signal: new AbortController().signal, progress: () => undefined, models, images }
  return (await node.run(values, context)).values
}

/** The latents after two steps. */
async function sample(changes: Readonly<Record<string, unknown>> = {}): Promise<Tensor> {
  const [latent] = await run(kSampler(catalogue), {
    model,
    positive,
    negative,
    seed: 7n,
    steps: 2,
    cfg: 3,
    sampler_name: 'euler',
    scheduler: 'normal',
    latent_image: { samples: zeros([1, 4, 16, 16]) },
    denoise: 1,
    ...changes,
  })
  return (latent as Latent).samples
}

const largest = (a: Tensor, b: Tensor) => Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i]!)))

describe('sampling with a control network', () => {
  const hung = async (settings: Readonly<Record<string, unknown>> = {}) => {
    const usual = { positive, negative, control_net: control, image, strength: 1, start_percent: 0, end_percent: 1 }
    const [one, other] = await run(controlNetApplyAdvanced, { ...usual, ...settings })
    return { positive: one as Conditioning, negative: other as Conditioning }
  }

  it('gives another picture, the same each time', async () => {
    const plain = await sample()
    const steered = await sample(await hung())
    expect(steered.data.every(Number.isFinite)).toBe(true)
    expect(largest(plain, steered)).toBeGreaterThan(0.1)
    expect(await sample(await hung())).toEqual(steered)
    expect(await sample(await hung({ strength: 0 }))).toEqual(plain)
  })

  it('adds the residuals of two that are chained', async () => {
    const once = await sample(await hung())
    const chained = await sample(await hung({ ...(await hung({ strength: 0.5 })), strength: 0.5 }))
    expect(largest(once, chained)).toBeLessThan(1e-3)
  })

  it('steers for its part of the run only', async () => {
    const all = await sample(await hung())
    expect(await sample(await hung({ start_percent: 0.9, end_percent: 0.9 }))).toEqual(await sample())
    const first = await sample(await hung({ end_percent: 0.2 }))
    expect(largest(all, first)).toBeGreaterThan(1e-3)
    expect(largest(await sample(), first)).toBeGreaterThan(1e-3)
  })

  it('steers both sides alike when the old node hung it', async () => {
    const usual = { control_net: control, image, strength: 1 }
    const [old] = await run(controlNetApply, { ...usual, conditioning: positive })
    expect(largest(await sample({ positive: old }), await sample(await hung()))).toBeLessThan(1e-4)
  })
})

describe('sampling with an altered network', () => {
  const alteredBy = async (node: AnyNode, values: Readonly<Record<string, unknown>>, given = model) =>
    (await run(node, { model: given, ...values }))[0] as DiffusionModel
  const shrink = {
    block_number: 2,
    downscale_factor: 2,
    start_percent: 0,
    end_percent: 0.35,
    downscale_after_skip: true,
    downscale_method: 'bicubic',
    upscale_method: 'bicubic',
  }
  const tiles = { tile_size: 32, swap_size: 2, max_depth: 1, scale_depth: false }

  it('changes nothing with FreeU at strengths of 1, and something at others', async () => {
    const plain = await sample()
    const one = await alteredBy(freeU, { b1: 1, b2: 1, s1: 1, s2: 1 })
    expect(largest(await sample({ model: one }), plain)).toBeLessThan(1e-4)
    const strong = await alteredBy(freeU, { b1: 1.1, b2: 1.2, s1: 0.9, s2: 0.2 })
    expect(largest(await sample({ model: strong }), plain)).toBeGreaterThan(1e-2)
  })

  it('attends within tiles with HyperTile, unless one tile holds the picture', async () => {
    const plain = await sample()
    expect(largest(await sample({ model: await alteredBy(hyperTile, tiles) }), plain)).toBeGreaterThan(1e-4)
    const whole = await alteredBy(hyperTile, { ...tiles, tile_size: 256 })
    expect(largest(await sample({ model: whole }), plain)).toBeLessThan(1e-5)
  })

  it('shrinks the picture during the first part of the run', async () => {
    const plain = await sample()
    expect(largest(await sample({ model: await alteredBy(patchModelAddDownscale, shrink) }), plain)).toBeGreaterThan(
      1e-2,
    )
    const never = await alteredBy(patchModelAddDownscale, { ...shrink, start_percent: 1 })
    expect(await sample({ model: never })).toEqual(plain)
  })

  it('takes alterations and control networks together', async () => {
    const both = await alteredBy(
      freeU,
      { b1: 1.1, b2: 1.2, s1: 0.9, s2: 0.2 },
      await alteredBy(patchModelAddDownscale, shrink),
    )
    const [one, other] = await run(controlNetApplyAdvanced, {
      positive,
      negative,
      control_net: control,
      image,
      strength: 1,
      start_percent: 0,
      end_percent: 1,
    })
    const { dims, data } = await sample({ model: both, positive: one, negative: other })
    expect(dims).toEqual([1, 4, 16, 16])
    expect(data.every(Number.isFinite)).toBe(true)
  })

  it('refuses what cannot be computed inside a network when it is asked for', async () => {
    const bislerp = alteredBy(patchModelAddDownscale, { ...shrink, downscale_method: 'bislerp' })
    await expect(bislerp).rejects.toThrow('bislerp is not supported')
  })
})
