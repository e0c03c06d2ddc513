// What opening a checkpoint of full size costs in memory: node tools/bench/memory.mjs [sdxl | sd15], after `npm run build`.
// Writes random weights (6.9 GB for SDXL) to a temporary folder, opens text encoders, network and autoencoder one after
// the other by using each once at 512×512, and prints a Markdown table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, stdout } from 'node:process'
import { zeros } from '../../dist/workload/tensor/tensor.js'
import { writeFullSizeCheckpoint } from './full-size-checkpoint.mjs'
import { openStore, temporaryModels } from './model-store.mjs'
import { table } from './server.mjs'

const kind = argv[2] ?? 'sdxl'
const { root, remove } = await temporaryModels('checkpoints')
const { bytes } = await writeFullSizeCheckpoint(join(root, 'checkpoints', 'full.safetensors'), kind)

const store = await openStore(root)
const { model, clip, vae } = await store.checkpoint('full.safetensors')

const status = () => {
  const text = readFileSync('/proc/self/status', 'utf8')
  return (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(text)[1]) * 1024
}
const gigabytes = (value) => `${(value / 1e9).toFixed(2)} GB`
const rows = []
const told = async (what, work) => {
  const began = performance.now()
  const result = await work()
  const now = status()
  const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`
  rows.push([what, seconds, ...['RssAnon', 'RssFile', 'VmHWM'].map((key) => gigabytes(now(key)))])
  return result
}
const [entry] = await told('text encoders', () => clip.encode('a lighthouse'))
const latents = zeros([1, 4, 64, 64])
const step = () => model.network.predict(latents, [500], model.inputsFor(entry, { height: 64, width: 64 }))
await told('network, first step', step)
await told('network, second step', step)
await told('decoder', () => vae.decode(latents))
await told('encoder', () => vae.encode(zeros([1, 512, 512, 3])))
await remove()
const head = ['opened and used once', 'time', 'own memory', 'mapped from the file', 'largest resident size so far']
const ratio = (status()('VmHWM') / bytes).toFixed(2)
stdout.write(
  `${table(head, rows)}\n\nThe file has ${gigabytes(bytes)}; the largest resident size is ${ratio} times that.\n`,
)
