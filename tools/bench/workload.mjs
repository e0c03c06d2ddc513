// What the server itself costs: node tools/bench/workload.mjs [rounds], after `npm run build`. Prints a Markdown table.
import { readFileSync } from 'node:fs'
import { argv, stdout } from 'node:process'
import { median, startServer, table } from './server.mjs'

const rounds = Number(argv[2] ?? 5)
const { prompt } = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8'))
const seeded = (seed) => ({ ...prompt, 5: { ...prompt[5], inputs: { ...prompt[5].inputs, seed } } })
const range = (values) => `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`
const row = (what, values) => [what, `${median(values).toFixed(0)} ms`, range(values)]

const [listening, ready] = [[], []]
for (let i = 0; i < rounds; i++) {
  const server = await startServer()
  listening.push(server.listeningAfter)
  ready.push(server.readyAfter)
  await server.stop()
}

const server = await startServer()
for (let i = 0; i < 5; i++) await server.draw(seeded(i)) // until the JIT compiler has seen the code
const [walls, inference, encoding, overhead, cached] = [[], [], [], [], []]
for (let i = 0; i < 2 * rounds; i++) {
  const { answer, wall } = await server.draw(seeded(1000 + i))
  const { inference_time, postprocess_time } = answer.stats
  walls.push(wall)
  inference.push(inference_time)
  encoding.push(postprocess_time)
  overhead.push(wall - inference_time - postprocess_time)
  cached.push((await server.draw(seeded(1000 + i))).wall)
}
await server.stop()

stdout.write(
  `${table(
    ['what', 'median', 'range, ms'],
    [
      row('start to listening', listening),
      row('start to ready, bundled model warm', ready),
      row('a 256×256 picture, 20 steps, seen by the client', walls),
      row('… of which inside ONNX Runtime', inference),
      row('… of which encoding (sharp)', encoding),
      row('… of which everything else: the overhead', overhead),
      row('the same prompt again', cached),
    ],
  )}\n`,
)
