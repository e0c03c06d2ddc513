import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cudaLowering } from '../../../src/workload/architectures/lowering-cuda.ts'
import { createModelStore, loadFamilies } from '../../../src/workload/families/support/model-store.ts'
import { createFamilyServices } from '../../../src/workload/families/support/services.ts'
import type { AppliedPatch } from '../../../src/workload/model/patches.ts'
import type { ModelStore, Network } from '../../../src/workload/model/ports.ts'
import type { Tensor } from '../../../src/workload/tensor/tensor.ts'
import { createModelFolders } from '../../../src/workload/weights/model-folders.ts'
import { emulateCuda } from '../../support/emulate-cuda.ts'
import { added, drawn, matrix, product, relative, scalar } from '../../support/lora-files.ts'
import { loraKinds, query } from '../../support/lora-kinds.ts'
import type { Weights } from '../../support/random-checkpoints.ts'
import { cpuRuntime } from '../../support/runtime.ts'
import { writeSafetensors } from '../../support/safetensors.ts'
import { testServices } from '../../support/services.ts'
import { tinyCheckpoint, tinyWeights } from '../../support/tiny-checkpoints.ts'

const plain = tinyCheckpoint('sd1', tinyWeights('sd1'))
const unet = (name: string) => `model.diffusion_model.${name}`
const text = (name: string) => `cond_stage_model.transformer.text_model.${name}`

const latents = drawn({ x: [1, 4, 8, 8] }, 3).x!
const context = drawn({ context: [1, 7, 32] }, 3).context!
const predict = (network: Network) => network.predict(latents, [400], { context })

const kohya = (layer: string) => `lora_unet_${layer.replaceAll('.', '_')}`

/** Layers of several kinds of block, with a LoRA for each. */
const several = {
  'input_blocks.1.1.proj_in': [32, 32],
  [query]: [32, 32],
  'input_blocks.1.1.transformer_blocks.0.attn2.to_v': [32, 32],
  'middle_block.1.transformer_blocks.0.attn2.to_out.0': [64, 64],
  'output_blocks.3.1.transformer_blocks.0.ff.net.0.proj': [256, 32],
} as const
const loraFile = (seed: string, named: (layer: string) => string, [up, down]: readonly [string, string]): Weights =>
  Object.assign(
    {},
    ...Object.entries(several).map(([layer, [out, inner]]) => {
      const { a, b } = renamedTo({ [`${seed} ${layer} a`]: [out, 2], [`${seed} ${layer} b`]: [2, inner] })
      return { [`${named(layer)}${up}`]: a, [`${named(layer)}${down}`]: b }
    }),
  )
const renamedTo = (shapes: Readonly<Record<string, readonly number[]>>) => {
  const [a, b] = Object.values(drawn(shapes)) as [Tensor, Tensor]
  return { a, b }
}

/** What diffusers calls the layers above. */
const diffusers: Readonly<Record<string, string>> = {
  'input_blocks.1.1.proj_in': 'down_blocks.0.attentions.0.proj_in',
  [query]: 'down_blocks.0.attentions.0.transformer_blocks.0.attn1.to_q',
  'input_blocks.1.1.transformer_blocks.0.attn2.to_v': 'down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_v',
  'middle_block.1.transformer_blocks.0.attn2.to_out.0': 'mid_block.attentions.0.transformer_blocks.0.attn2.to_out.0',
  'output_blocks.3.1.transformer_blocks.0.ff.net.0.proj': 'up_blocks.1.attentions.1.transformer_blocks.0.ff.net.0.proj',
}
const processor = (layer: string) =>
  `unet.${diffusers[layer]!.replace('.to_', '.processor.to_').replace('to_out.0', 'to_out')}`
const ofKohya = ['.lora_up.weight', '.lora_down.weight'] as const

/** One LoRA as different programs write it. */
const forms: Readonly<Record<string, Weights>> = {
  'kohya, LDM names': loraFile('a', kohya, ofKohya),
  'kohya, diffusers names': loraFile('a', (layer) => kohya(diffusers[layer]!), ofKohya),
  'LDM names': loraFile('a', (layer) => `diffusion_model.${layer}`, ofKohya),
  lycoris: loraFile('a', (layer) => `lycoris_${diffusers[layer]!.replaceAll('.', '_')}`, ofKohya),
  'diffusers, attention processors': loraFile('a', processor, ['_lora.up.weight', '_lora.down.weight']),
  'diffusers, linear layers': loraFile('a', processor, [
    '.lora_linear_layer.up.weight',
    '.lora_linear_layer.down.weight',
  ]),
  PEFT: loraFile('a', (layer) => `unet.${diffusers[layer]}`, ['.lora_B.weight', '.lora_A.weight']),
  'PEFT, default adapter': loraFile('a', (layer) => diffusers[layer]!, [
    '.lora_B.default.weight',
    '.lora_A.default.weight',
  ]),
}

const fc = 'encoder.layers.1.mlp.fc1'
const textParts = drawn({ up: [128, 4], down: [4, 32] })
const textGoal = added(plain[text(`${fc}.weight`)]!, product(matrix(textParts.up!), matrix(textParts.down!)), 0.5)
const textLora = (layer: string) => ({
  [`${layer}.lora_up.weight`]: textParts.up!,
  [`${layer}.lora_down.weight`]: textParts.down!,
})

const STRENGTH = 0.75
let root: string
let store: ModelStore
let before: Tensor
const warned: { readonly lora: unknown; readonly count: unknown }[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'easel-'))
  for (const folder of ['checkpoints', 'loras']) await mkdir(join(root, folder))
  const write = (path: string, weights: Weights) => writeSafetensors(join(root, `${path}.safetensors`), weights)
  await write('checkpoints/plain', plain)
  await write('checkpoints/text', { ...plain, [text(`${fc}.weight`)]: textGoal })
  for (const [kind, { layer, tensors, delta }] of Object.entries(loraKinds)) {
    const key = unet(`${layer}.weight`)
    const goal = added(plain[key]!, delta(tensors, plain[key]!), STRENGTH)
    await write(`checkpoints/${kind}`, { ...plain, [key]: goal })
    const named = Object.entries(tensors).map(([part, t]) => [`${kohya(layer)}.${part}`, t])
    await write(`loras/${kind}`, Object.fromEntries(named))
  }
  for (const [form, weights] of Object.entries(forms)) await write(`loras/${form}`, weights)
  await write('loras/b', loraFile('b', kohya, ofKohya))
  for (const layer of [`lora_te_text_model_${fc.replaceAll('.', '_')}`, `text_encoder.text_model.${fc}`])
    await write(`loras/${layer}`, textLora(layer))
  await write('loras/strange', { ...textLora('lora_unet_nowhere'), 'what.is.this': scalar(1) })
  await write(
    'loras/large',
    drawn({ [`${kohya(query)}.lora_up.weight`]: [32, 2], [`${kohya(query)}.lora_down.weight`]: [2, 96] }),
  )
  await write('loras/glora', drawn({ [`${kohya(query)}.a1.weight`]: [4, 4] }))
  const folders = createModelFolders(root)
  const log = {
    warn: (facts: Readonly<Record<string, unknown>>) => warned.push({ lora: facts.lora, count: facts.count }),
  }
  const services = createFamilyServices(await cpuRuntime(), folders, log)
  store = createModelStore(folders, await loadFamilies(), { ...services, slottedFrom: 0 })
  before = await predict(await networkOf('plain'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const networkOf = async (name: string): Promise<Network> =>
  (await store.checkpoint(`${name}.safetensors`)).model.network
const applied = async (name: string, strength: number): Promise<AppliedPatch> => ({
  patch: await store.lora(`${name}.safetensors`),
  strength,
})

/** The plain network with LoRA files of these names and strengths. */
const withLoras = async (...loras: readonly (readonly [name: string, strength: number])[]): Promise<Network> =>
  (await networkOf('plain')).patched(await Promise.all(loras.map(([name, strength]) => applied(name, strength))))

it.each(Object.keys(loraKinds))('changes weights as %s says', async (kind) => {
  const patched = await predict(await withLoras([kind, STRENGTH]))
  expect(relative(patched, await predict(await networkOf(kind)))).toBeLessThan(1e-5)
  expect(relative(patched, before)).toBeGreaterThan(1e-3)
})

it('works changes into the weights of graphs for CUDA, which have no slots', async () => {
  const services = await testServices((name, view) => cudaLowering(name, view, 'float32'), emulateCuda)
  const runtime = { ...services.runtime, provider: { ...services.runtime.provider, name: 'cuda' as const } }
  const onCuda = createModelStore(createModelFolders(root), await loadFamilies(), { ...services, runtime })
  const { network } = (await onCuda.checkpoint('plain.safetensors')).model
  for (const kind of ['LoRA', 'LoCon with a core', 'DoRA of a convolution, a length for each output']) {
    const patch = await onCuda.lora(`${kind}.safetensors`)
    const patched = await predict(network.patched([{ patch, strength: STRENGTH }]))
    expect(relative(patched, await predict(await networkOf(kind)))).toBeLessThan(1e-5)
  }
})

const [known, ...others] = Object.keys(forms) as [string, ...string[]]

it.each(others)('finds the layers by the names of %s', async (form) => {
  const [one, other] = await Promise.all([withLoras([known, 1]), withLoras([form, 1])])
  expect(await predict(other)).toEqual(await predict(one))
})

it('adds up what is chained, in slots of the resident session as in the weights', async () => {
  // A change that fits no slot comes behind, so that all are worked into the weights.
  const chained = [
    [known, 0.5],
    ['b', -0.25],
    ['LoHa', 0.5],
    [known, 0.25],
  ] as const
  const slots = await predict(await withLoras(...chained))
  const folded = await predict(await withLoras(...chained, ['LoKr', 0]))
  expect(relative(slots, folded)).toBeLessThan(1e-5)
  const merged = await predict(await withLoras(['b', -0.25], ['LoHa', 0.5], [known, 0.75]))
  expect(relative(slots, merged)).toBeLessThan(1e-5)
})

it('undoes with a negative strength what a positive one does', async () => {
  expect(relative(await predict(await withLoras([known, 2], [known, -2])), before)).toBeLessThan(1e-5)
})

it('hands a LoRA to the slots of a network with other changes', async () => {
  const one = await predict(await withLoras(['LoKr', 0.5], ['b', 1]))
  expect(relative(one, await predict(await withLoras(['b', 1], ['LoKr', 0.5])))).toBeLessThan(1e-5)
})

it('gives prompts with different LoRAs that wait together what each gets alone', async () => {
  const networks = await Promise.all([
    withLoras([known, 1]),
    withLoras(['b', 1]),
    networkOf('plain'),
    withLoras([known, 1]),
  ])
  const together = await Promise.all(networks.map(predict))
  const alone = []
  for (const network of networks) alone.push(await predict(network))
  for (const [i, each] of together.entries()) expect(relative(each, alone[i]!)).toBeLessThan(1e-6)
  expect(relative(alone[0]!, alone[1]!)).toBeGreaterThan(1e-3)
})

it('knows a file by its contents, so that a renamed copy is not read again', async () => {
  await copyFile(join(root, 'loras', 'LoHa.safetensors'), join(root, 'loras', 'copied.safetensors'))
  const [one, other] = await Promise.all([applied('LoHa', 1), applied('copied', 1)])
  expect(other.patch.key).toBe(one.patch.key)
  expect((await applied('LoKr', 1)).patch.key).not.toBe(one.patch.key)
})

const encode = async (name: string, patches: readonly AppliedPatch[] = []) => {
  const { clip } = await store.checkpoint(`${name}.safetensors`)
  return (await clip!.patched(patches).encode('a red house'))[0]!.context
}

it.each([`lora_te_text_model_${fc.replaceAll('.', '_')}`, `text_encoder.text_model.${fc}`])(
  'changes the text encoder by the name %s, and rounds its weights behind that',
  async (name) => {
    const patched = await encode('plain', [await applied(name, 0.5)])
    expect(relative(patched, await encode('text'))).toBeLessThan(1e-5)
    expect(relative(patched, await encode('plain'))).toBeGreaterThan(1e-3)
  },
)

it('leaves the parts alone that a file has nothing for', async () => {
  expect(await encode('plain', [await applied(known, 1)])).toEqual(await encode('plain'))
  const network = await withLoras([`text_encoder.text_model.${fc}`, 1])
  expect(await predict(network)).toEqual(before)
})

it('tells of layers that it does not know and passes them over', async () => {
  expect(await predict(await withLoras(['strange', 1]))).toEqual(before)
  expect(warned).toContainEqual({ lora: 'strange.safetensors', count: 1 })
  expect(await predict(await withLoras(['large', 1]))).toEqual(before) // made for a wider text encoder
  expect(warned).toContainEqual({ lora: 'large.safetensors', count: 1 })
})

it('refuses kinds that it does not know by their name', async () => {
  await expect(store.lora('glora.safetensors')).rejects.toMatchObject({
    code: 'execution-failed',
    message: expect.stringContaining('GLoRA'),
  })
})
