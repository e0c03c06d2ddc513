// How long GET /health takes while an engine computes: node tools/bench/health.mjs, after `npm run build`.
// Runs the example five times with other seeds and asks every 20 ms meanwhile; prints a Markdown table.
import { readFileSync } from 'node:fs'
import { stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer, table } from './server.mjs'

const { prompt } = JSON.parse(readFileSync('docs/examples/txt2img.json', 'utf8'))
const server = await startServer()
const took = []
let drawing = true
const asking = (async () => {
  while (drawing) {
    took.push(await server.health())
    await pause(20)
  }
})()
for (let seed = 1; seed <= 5; seed++)
  await server.draw({ ...prompt, 5: { ...prompt[5], inputs: { ...prompt[5].inputs, seed } } })
drawing = false
await asking
await server.stop()
const sorted = took.toSorted((a, b) => a - b)
const at = (part) => `${sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1)} ms`
stdout.write(
  `${table(
    ['GET /health during a run', 'value'],
    [
      ['requests', sorted.length],
      ['median', at(0.5)],
      ['99 %', at(0.99)],
      ['slowest', at(1)],
    ],
  )}\n`,
)
