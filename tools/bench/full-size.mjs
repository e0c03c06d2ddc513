// What a checkpoint of full Stable Diffusion 1.5 size costs: node tools/bench/full-size.mjs, after `npm run build`.
// Writes 2.1 GB of random weights to a temporary folder, draws two pictures of 512×512 in one step each, prints a table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stdout } from 'node:process'
import { writeFullSizeCheckpoint } from './full-size-checkpoint.mjs'
import { temporaryModels } from './model-store.mjs'
import { startServer, table } from './server.mjs'

const { root, remove } = await temporaryModels('checkpoints')
const { parameters, bytes } = await writeFullSizeCheckpoint(join(root, 'checkpoints', 'full.safetensors'))
const server = await startServer({ MODEL_DIR: root })
const { prompt } = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8'))
prompt[1].inputs.ckpt_name = 'full.safetensors'
Object.assign(prompt[4].inputs, { width: 512, height: 512 })
const draw = async (seed) => {
  Object.assign(prompt[5].inputs, { seed, steps: 1 })
  return (await server.draw(prompt)).wall
}
const [first, second] = [await draw(1), await draw(2)]
const peak = server.peakMemory()
await server.stop()
await remove()

const gigabytes = (value) => `${(value / 2 ** 30).toFixed(2)} GiB`
const seconds = (value) => `${(value / 1000).toFixed(1)} s`
stdout.write(
  `${table(
    ['what', 'value'],
    [
      ['parameters', `${(parameters / 1e6).toFixed(0)} M`],
      ['checkpoint file, float16', gigabytes(bytes)],
      ['first picture, 512×512, 1 step with guidance: opening included', seconds(first)],
      ['second picture', seconds(second)],
      ['peak memory of the server and its engine', gigabytes(peak)],
    ],
  )}\n`,
)
