import { describe, expect, it } from 'vitest'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import type { Alteration } from '../../../src/workload/model/alterations.ts'
import type { Conditioning } from '../../../src/workload/model/conditioning.ts'
import type { ControlModel } from '../../../src/workload/model/control.ts'
import type { DiffusionModel, Network, Upscaler } from '../../../src/workload/model/ports.ts'
import controlNetApply from '../../../src/workload/nodes/control-net-apply.ts'
import controlNetApplyAdvanced from '../../../src/workload/nodes/control-net-apply-advanced.ts'
import controlNetLoader from '../../../src/workload/nodes/control-net-loader.ts'
import diffControlNetLoader from '../../../src/workload/nodes/diff-control-net-loader.ts'
import freeU from '../../../src/workload/nodes/free-u.ts'
import freeUV2 from '../../../src/workload/nodes/free-u-v2.ts'
import hyperTile from '../../../src/workload/nodes/hyper-tile.ts'
import imageUpscaleWithModel from '../../../src/workload/nodes/image-upscale-with-model.ts'
import patchModelAddDownscale from '../../../src/workload/nodes/patch-model-add-downscale.ts'
import setUnionControlNetType from '../../../src/workload/nodes/set-union-control-net-type.ts'
import upscaleModelLoader from '../../../src/workload/nodes/upscale-model-loader.ts'
import { discreteSampling } from '../../../src/workload/sampling/model-sampling.ts'
import { resized } from '../../../src/workload/tensor/resize.ts'
import { filled, mapped, type Tensor, zeros } from '../../../src/workload/tensor/tensor.ts'
import { type AnyNode, firstOf, nodeRoom, runNode } from '../../support/node-room.ts'

const control: ControlModel = { hintScale: 8, residuals: () => Promise.reject(new Error('nobody asks')) }
const entry = { context: zeros([1, 7, 24]) }
const image = mapped(zeros([1, 2, 3, 3]), (_, i) => i)
const files = async () => []
const catalogue = { samplers: new Map(), schedulers: new Map(), files, inputImages: files }

describe('the loaders', () => {
  it.each([
    [controlNetLoader(catalogue), { control_net_name: 'a.safetensors' }],
    [diffControlNetLoader(catalogue), { control_net_name: 'a.safetensors', model: undefined }],
  ] as const)('give the control network of that name: %#', async (node: AnyNode, values) => {
    const { context } = await nodeRoom({}, { controlNet: async (name) => ({ ...control, hintScale: name.length }) })
    expect((await node.run(values, context)).values[0]).toMatchObject({ hintScale: 'a.safetensors'.length })
  })

  it('give the enlarging network of that name', async () => {
    const { context } = await nodeRoom({}, { upscaler: async () => doubling(doubled) })
    const { values } = await upscaleModelLoader(catalogue).run({ model_name: 'x2.safetensors' }, context)
    expect(values[0]).toMatchObject({ scale: 2 })
  })
})

describe('a control network', () => {
  const settings = { control_net: control, image, strength: 0.8 }
  const range = { start_percent: 0.25, end_percent: 0.75 }

  it('is hung on every entry of both sides, as one object, behind those that hang there', async () => {
    const before = { control, hint: zeros([1, 3, 1, 1]), strength: 1, range: { start: 0, end: 1 }, alsoNegative: true }
    const positive = [{ ...entry, controls: [before] }, entry]
    const [one, other] = (await runNode(controlNetApplyAdvanced, {
      ...settings,
      ...range,
      positive,
      negative: [entry],
    })) as [Conditioning, Conditioning]
    const applied = other[0]!.controls![0]!
    expect(applied).toMatchObject({ strength: 0.8, range: { start: 0.25, end: 0.75 }, alsoNegative: false })
    expect(applied.hint.dims).toEqual([1, 3, 2, 3])
    expect([...applied.hint.data.slice(0, 6)]).toEqual([0, 3, 6, 9, 12, 15])
    expect(one.map(({ controls }) => controls)).toEqual([[before, applied], [applied]])
    expect(one[1]!.controls![0]).toBe(applied)
    expect(entry).not.toHaveProperty('controls')
  })

  it('steers the negative side as well when the old node hung it', async () => {
    const conditioning = await firstOf<Conditioning>(controlNetApply, { ...settings, conditioning: [entry] })
    expect(conditioning[0]!.controls).toMatchObject([{ alsoNegative: true, range: { start: 0, end: 1 } }])
  })

  it('changes nothing without strength', async () => {
    const sides = { positive: [entry], negative: [] }
    const values = await runNode(controlNetApplyAdvanced, { ...settings, ...range, ...sides, strength: 0 })
    expect(values).toEqual([sides.positive, sides.negative])
    expect(await firstOf(controlNetApply, { ...settings, strength: 0, conditioning: [entry] })).toEqual([entry])
  })
})

describe('SetUnionControlNetType', () => {
  it('numbers the kinds of hints, and leaves networks for one kind alone', async () => {
    const asked: (number | undefined)[] = []
    const union: ControlModel = {
      ...control,
      ofKind(kind) {
        asked.push(kind)
        return control
      },
    }
    for (const type of ['auto', 'openpose', 'canny/lineart/anime_lineart/mlsd', 'repaint'])
      expect(await firstOf(setUnionControlNetType, { control_net: union, type })).toBe(control)
    expect(asked).toEqual([undefined, 0, 3, 7])
    expect(await firstOf(setUnionControlNetType, { control_net: control, type: 'depth' })).toBe(control)
  })
})

/** A network that only remembers what is done to it. */
function remembering(done: readonly Alteration[]): Network & { readonly done: readonly Alteration[] } {
  return {
    done,
    predict: () => Promise.reject(new Error('nobody asks')),
    patched: () => remembering(done),
    altered: (alteration) => remembering([...done, alteration]),
  }
}

describe('altering nodes', () => {
  const sampling = discreteSampling({ prediction: 'eps' })
  const format = { channels: 4, processIn: (t: Tensor) => t, processOut: (t: Tensor) => t }
  const model: DiffusionModel = { network: remembering([]), sampling, latent: format, inputsFor: () => ({}) }
  const alterationBy = async (node: AnyNode, values: Readonly<Record<string, unknown>>) =>
    (await firstOf<{ readonly network: ReturnType<typeof remembering> }>(node, { model, ...values })).network.done

  it.each([
    [freeU, 1],
    [freeUV2, 2],
  ] as const)('FreeU hands its strengths on: %#', async (node, version) => {
    const strengths = { b1: 1.1, b2: 1.2, s1: 0.9, s2: 0.2 }
    expect(await alterationBy(node, strengths)).toEqual([{ kind: 'freeU', version, ...strengths }])
  })

  it('HyperTile hands its sizes on', async () => {
    const sizes = { tile_size: 128, swap_size: 3, max_depth: 1, scale_depth: true }
    expect(await alterationBy(hyperTile, sizes)).toEqual([
      { kind: 'hyperTile', tileSize: 128, swapSize: 3, maxDepth: 1, scaleDepth: true },
    ])
  })

  it('Deep Shrink turns the part of the run into noise levels', async () => {
    const values = {
      block_number: 3,
      downscale_factor: 2,
      start_percent: 0,
      end_percent: 0.35,
      downscale_after_skip: true,
      downscale_method: 'bicubic',
      upscale_method: 'area',
    }
    const [alteration] = await alterationBy(patchModelAddDownscale, values)
    expect(alteration).toMatchObject({ kind: 'downscale', block: 3, factor: 2, afterSkip: true, upscaleMethod: 'area' })
    expect(alteration).toMatchObject({
      sigmas: { start: sampling.percentToSigma(0), end: sampling.percentToSigma(0.35) },
    })
  })
})

const doubled = (t: Tensor) => resized(t, t.dims[3]! * 2, t.dims[2]! * 2, 'nearest-exact', 'disabled')
const doubling = (run: (tile: Tensor) => Tensor): Upscaler => ({ scale: 2, upscale: async (tile) => run(tile) })

describe('ImageUpscaleWithModel', () => {
  it('enlarges a small picture whole and cuts it off at 0 and 1', async () => {
    const picture = mapped(zeros([1, 2, 1, 3]), (_, i) => i - 1.5)
    const upscaler = doubling(doubled)
    const { dims, data } = await firstOf<Tensor>(imageUpscaleWithModel, { upscale_model: upscaler, image: picture })
    expect(dims).toEqual([1, 4, 2, 3])
    expect([...data.slice(-3)]).toEqual([1, 1, 1])
    expect([...data.slice(0, 3)]).toEqual([0, 0, 0.5])
  })

  it('takes large pictures apart and tells how far it is', async () => {
    const told: string[] = []
    const { context } = await nodeRoom()
    const progress = (done: number, total: number) => told.push(`${done}/${total}`)
    const upscale_model = doubling(doubled)
    const picture = filled([1, 4, 600, 3], 0.25)
    const { values } = await imageUpscaleWithModel.run({ upscale_model, image: picture }, { ...context, progress })
    expect(told).toEqual(['1/2', '2/2'])
    expect((values[0] as Tensor).dims).toEqual([1, 8, 1200, 3])
  })

  it('tries smaller tiles while the memory does not suffice', async () => {
    const sides: number[] = []
    const exhausted = (limit: number) =>
      doubling((tile) => {
        sides.push(tile.dims[3]!)
        if (tile.dims[3]! > limit) throw new WorkloadError('out-of-memory', 'failed to allocate')
        return doubled(tile)
      })
    const picture = filled([1, 4, 300, 3], 0.25)
    const enlarge = (limit: number) =>
      runNode(imageUpscaleWithModel, { upscale_model: exhausted(limit), image: picture })
    await enlarge(256)
    expect(sides).toEqual([300, 256, 76])
    sides.length = 0
    await expect(enlarge(64)).rejects.toThrow('failed to allocate')
    expect(sides).toEqual([300, 256, 128])
  })

  it('refuses pictures that have other than three channels', async () => {
    const values = { upscale_model: doubling(doubled), image: zeros([1, 2, 2, 4]) }
    await expect(runNode(imageUpscaleWithModel, values)).rejects.toThrow('not of 4')
  })
})
