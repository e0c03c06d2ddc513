// What a LoRA costs on a resident network of full Stable Diffusion 1.5 size: node tools/bench/lora.mjs, after
// `npm run build`. Writes 2.1 GB of random weights and some LoRA files to a temporary folder; needs 12 GB of memory.
// Times are seconds beyond what the same text and step take without it; prints a Markdown table.
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stderr, stdout } from 'node:process'
import { tensor } from '../../dist/workload/tensor/tensor.js'
import { shapesOf, writeFullSizeCheckpoint, writeRandom } from './full-size-checkpoint.mjs'
import { openStore, temporaryModels } from './model-store.mjs'
import { table } from './server.mjs'

const { root, remove } = await temporaryModels('checkpoints', 'loras')
await writeFullSizeCheckpoint(join(root, 'checkpoints', 'full.safetensors'))

/** The layers that trainers choose by default, by kohya's names: what attends, feeds forward and projects. */
const layers = shapesOf('sd15').flatMap(([name, dims]) => {
  if (!name.endsWith('.weight') || dims.length < 2) return []
  const [, unet] = /^model\.diffusion_model\.(.*(?:transformer_blocks|proj_in|proj_out).*)\.weight$/.exec(name) ?? []
  const [, text] = /^cond_stage_model\.transformer\.(text_model\.encoder.*)\.weight$/.exec(name) ?? []
  if (unet) return [[`lora_unet_${unet.replaceAll('.', '_')}`, dims]]
  return text ? [[`lora_te_${text.replaceAll('.', '_')}`, dims]] : []
})
const convolutions = shapesOf('sd15').flatMap(([name, dims]) => {
  const [, conv] = /^model\.diffusion_model\.(.*(?:in_layers\.2|out_layers\.3))\.weight$/.exec(name) ?? []
  return conv ? [[`lora_unet_${conv.replaceAll('.', '_')}`, dims]] : []
})
const lora = (rank) => (entries) =>
  entries.flatMap(([name, [out, inner, ...kernel]]) => [
    [`${name}.lora_up.weight`, [out, rank, ...kernel.map(() => 1)]],
    [`${name}.lora_down.weight`, [rank, inner, ...kernel]],
  ])
const loha = (rank) => (entries) =>
  entries.flatMap(([name, [out, inner, ...kernel]]) =>
    ['w1', 'w2'].flatMap((each) => [
      [`${name}.hada_${each}_a`, [out, rank]],
      [`${name}.hada_${each}_b`, [rank, kernel.reduce((product, side) => product * side, inner)]],
    ]),
  )
const dora = (rank) => (entries) => [
  ...lora(rank)(entries),
  ...entries.map(([name, [, inner, ...kernel]]) => [`${name}.dora_scale`, [1, inner, ...kernel.map(() => 1)]]),
]
const files = {
  'LoRA, rank 8': lora(8)(layers),
  'LoRA, rank 32': lora(32)(layers),
  'LoRA, rank 128': lora(128)(layers),
  'LoCon, rank 8 (convolutions as well)': lora(8)([...layers, ...convolutions]),
  'LoHa, rank 8': loha(8)(layers),
  'DoRA, rank 8': dora(8)(layers),
}
for (const [i, entries] of Object.values(files).entries()) {
  await writeRandom(join(root, 'loras', `${i}.safetensors`), entries)
}

const store = await openStore(root)
const { model, clip } = await store.checkpoint('full.safetensors')

const latents = tensor(
  [1, 4, 64, 64],
  Float32Array.from({ length: 4 * 64 * 64 }, (_, i) => Math.sin(i)),
)
const step = async (network, text) => {
  const [{ context }] = await text.encode('a lighthouse at the edge of the sea, oil on canvas')
  return network.predict(latents, [500], { context })
}
/** Seconds that pass and seconds that cores work. */
const timed = async (work) => {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const used = process.cpuUsage(cpu)
  return { wall: (performance.now() - began) / 1000, cpu: (used.user + used.system) / 1e6 }
}
const least = (taken) => ({
  wall: Math.min(...taken.map(({ wall }) => wall)),
  cpu: Math.min(...taken.map(({ cpu }) => cpu)),
})
const best = async (times, work) => {
  const taken = []
  for (let i = 0; i < times; i++) taken.push(await timed(work))
  return least(taken)
}
const withLora = async (name) => {
  const patch = await store.lora(name)
  const applied = [{ patch, strength: 0.8 }]
  return [model.network.patched(applied), clip.patched(applied)]
}

const opening = await timed(() => step(model.network, clip))
const plain = await best(4, () => step(model.network, clip))
const show = ({ wall, cpu }) => `${wall.toFixed(2)} (${cpu.toFixed(2)})`
const beyond = ({ wall, cpu }, from) => show({ wall: wall - from.wall, cpu: cpu - from.cpu })
const rows = [
  ['opening, text and first step', show(opening), '', ''],
  ['text and step without a LoRA', show(plain), '', ''],
]
for (const [i, what] of Object.keys(files).entries()) {
  const [network, text] = await withLora(`${i}.safetensors`) // so that the code has been seen by the compiler
  await step(network, text)
  const loads = []
  for (const which of ['a', 'b']) {
    await writeRandom(join(root, 'loras', `${which}.safetensors`), Object.values(files)[i])
    loads.push(await timed(async () => step(...(await withLora(`${which}.safetensors`)))))
    await copyFile(join(root, 'loras', `${which}.safetensors`), join(root, 'loras', `copy of ${which}.safetensors`))
  }
  const usual = await best(3, async () => step(...(await withLora('b.safetensors'))))
  const copied = await timed(async () => step(...(await withLora('copy of b.safetensors'))))
  const slower = (usual.cpu / plain.cpu - 1) * 100
  rows.push([what, beyond(least(loads), usual), beyond(copied, usual), `${show(usual)}, ${slower.toFixed(0)} % more`])
  stderr.write(`${rows.at(-1).join(' | ')}\n`)
}
await remove()
const head = [
  '512×512, 2 threads; seconds (of them all cores together)',
  'loading it',
  'a copy of its file',
  'text and step with it',
]
stdout.write(`${table(head, rows)}\n`)
