// What large results cost in memory: node tools/bench/answer-memory.mjs, after `npm run build`. Takes about five minutes.
// Draws noise, which PNG cannot make smaller, on a server without models, and prints a Markdown table of what the server
// and its engine grew by, from before the request to their largest, sampled every 50 ms.
import { once } from 'node:events'
import { request } from 'node:http'
import { stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { startReceiver } from '../chaos/receiver.mjs'
import { watchMemory } from './resident-memory.mjs'
import { startServer, table } from './server.mjs'

const MEGABYTE = 2 ** 20
/** How long receivers that take too long are watched. */
const WATCHED_MS = 30_000

let seed = 0
const saved = (rows, side) => ({
  image: { class_type: 'TestPicture', inputs: { width: side, height: side, rows, seed: ++seed } },
  save: { class_type: 'TestSave', inputs: { images: ['image', 0], filename_prefix: 'noise' } },
})
/** The pictures as nodes of their own, so that they need not be in memory together. */
const savedSingly = (count, side) => {
  const nodes = Array.from({ length: count }, (_, i) =>
    Object.entries(saved(1, side)).map(([id, { class_type, inputs }]) => [
      `${id}${i}`,
      { class_type, inputs: inputs.images ? { ...inputs, images: [`image${i}`, 0] } : inputs },
    ]),
  )
  return Object.fromEntries(nodes.flat())
}

/** Sends a body and reads the answer, at most `rate` bytes a second of it. */
async function ask(url, body, rate = Infinity) {
  const asked = request(`${url}/prompt`, { method: 'POST', headers: { 'content-type': 'application/json' } }).end(body)
  const [response] = await once(asked, 'response')
  const began = performance.now()
  let bytes = 0
  let head = ''
  for await (const part of response) {
    if (bytes < 1000) head += part.toString('latin1').slice(0, 1000)
    bytes += part.length
    const early = (bytes / rate) * 1000 - (performance.now() - began)
    if (early > 1) await pause(early)
  }
  if (response.statusCode > 202) throw new Error(`${response.statusCode}: ${head}`)
  return bytes
}

const rows = []
/** Measures `work` on a new server, which has drawn something before. Work resolves with the bytes it was about. */
async function measure(what, environment, work) {
  const server = await startServer({ CUSTOM_NODES_DIR: 'test/fixtures/custom-nodes', LOG_LEVEL: 'error', ...environment })
  const receiver = await startReceiver({ behave: ({ path }) => (path === '/' ? 200 : path.slice(1)), keepBodies: false })
  try {
    await ask(server.url, JSON.stringify({ prompt: saved(1, 64) }))
    await ask(server.url, JSON.stringify({ prompt: saved(1, 64), webhook_v2: receiver.url }))
    while (receiver.accepted().size === 0) await pause(20)
    await pause(500)
    const memory = watchMemory(server.processes())
    const bytes = await work({ url: server.url, receiver, memory })
    await pause(300)
    const { main, engines, both } = memory.end()
    const cells = [main, engines, both].map(({ before, peak }) => `${peak - before} MB`)
    rows.push([what, `${Math.round(bytes / MEGABYTE)} MB`, `${main.before} MB`, ...cells])
    stdout.write(`${rows.at(-1).join(' | ')}\n`)
  } finally {
    await server.stop()
    await receiver.close()
  }
}

/** Bytes of PNG behind so many of base64. */
const decoded = (bytes) => bytes * 0.75

const synchronous = (prompt, rate) => async ({ url }) => decoded(await ask(url, JSON.stringify({ prompt }), rate))

await measure('a picture a node', {}, synchronous(savedSingly(16, 2048)))
await measure('the same, nothing cached', { RESULT_CACHE_MB: '0' }, synchronous(savedSingly(16, 2048)))
await measure('a picture a node, read at 20 MB/s', {}, synchronous(savedSingly(16, 2048), 20e6))
await measure('one batch of 16', {}, synchronous(saved(16, 2048)))
await measure('one batch of 16, read at 20 MB/s', {}, synchronous(saved(16, 2048), 20e6))

stdout.write(`\n${table(['result', 'PNG', 'server before', 'server grew by', 'engine grew by', 'both grew by'], rows)}\n`)
