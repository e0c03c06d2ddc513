// What large results cost in memory: node tools/bench/answer-memory.mjs [pattern], after `npm run build`: about six
// minutes for all rows, less for those whose first cell has the pattern.
// Draws noise, which PNG cannot make smaller, on a server without models, and prints a Markdown table of what the server
// and its engine grew by, from before the request to their largest, sampled every 50 ms.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { argv, stderr, stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import sharp from 'sharp'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
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

/** Listens for calls and reads what comes, at most `rate` bytes a second; nothing at all at 0. */
async function startSlowReceiver(rate) {
  let began = 0
  let bytes = 0
  const take = async (incoming, response) => {
    began ||= performance.now()
    if (rate === 0) return
    const from = performance.now()
    let own = 0
    for await (const part of incoming) {
      bytes += part.length
      own += part.length
      await pause(Math.max(0, (own / rate) * 1000 - (performance.now() - from)))
    }
    response.end()
  }
  // A call that is not over when the watching is, is dropped.
  const receiver = createServer((incoming, response) => void take(incoming, response).catch(() => undefined))
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  return {
    url: `http://127.0.0.1:${receiver.address().port}`,
    /** Milliseconds since the first call. */
    busyFor: () => (began === 0 ? 0 : performance.now() - began),
    bytes: () => bytes,
    close() {
      receiver.close()
      receiver.closeAllConnections()
    },
  }
}

const only = new RegExp(argv[2] ?? '')
const rows = []

/** Measures `work` on a new server that has drawn before; `work` resolves with the bytes it was about. */
async function measure(what, environment, work, rate = Infinity) {
  if (!only.test(what)) return
  const server = await startServer({
    ...{ MODEL_DIR: '', CUSTOM_NODES_DIR: 'test/fixtures/custom-nodes', EXECUTION_PROVIDER: 'cpu' },
    ...{ LOG_LEVEL: 'error', OUTBOUND_ALLOW: '127.0.0.1', ...environment },
  })
  const [receiver, slow] = [await startSlowReceiver(Infinity), await startSlowReceiver(rate)]
  try {
    await ask(server.url, JSON.stringify({ prompt: saved(1, 64) }))
    await ask(server.url, JSON.stringify({ prompt: saved(1, 64), webhook_v2: receiver.url }))
    while (receiver.bytes() === 0) await pause(20)
    await pause(500)
    const memory = watchMemory(server.processId)
    const bytes = await work({ url: server.url, slow })
    await pause(300)
    const { main, engine, both } = memory.end()
    const cells = [main, engine, both].map(({ before, peak }) => `${peak - before} MB`)
    rows.push([what, `${Math.round(bytes / MEGABYTE)} MB`, `${main.before} MB`, ...cells])
    stderr.write(`${rows.at(-1).join(' | ')}\n`)
  } finally {
    receiver.close()
    slow.close()
    await server.stop()
  }
}

/** Base64 carries three quarters of its own length. */
const ofPng = (bytes) => bytes * 0.75

const synchronous =
  (prompt, rate) =>
  async ({ url }) =>
    ofPng(await ask(url, JSON.stringify({ prompt }), rate))

/** Has ten pictures of 20 MB told, and watches for a while how they wait. */
const told = async ({ url, slow }) => {
  await ask(url, JSON.stringify({ prompt: savedSingly(10, 2600), webhook_v2: slow.url }))
  while (slow.busyFor() < WATCHED_MS) await pause(100)
  return 10 * 2600 * 2600 * 3
}

/** Six pictures of 12 MB in base64, of which corners are saved. */
const sent = async ({ url }) => {
  const size = { width: 2048, height: 2048, channels: 3 }
  const prompt = {}
  for (let i = 0; i < 6; i++) {
    const png = await sharp(randomBytes(2048 * 2048 * 3), { raw: size })
      .png({ compressionLevel: 0 })
      .toBuffer()
    prompt[`load${i}`] = { class_type: 'LoadImage', inputs: { image: png.toString('base64') } }
    const corner = { image: [`load${i}`, 0], x: 0, y: 0, width: 64, height: 64 }
    prompt[`crop${i}`] = { class_type: 'ImageCrop', inputs: corner }
    const kept = { images: [`crop${i}`, 0], filename_prefix: 'corner' }
    prompt[`save${i}`] = { class_type: 'TestSave', inputs: kept }
  }
  const body = JSON.stringify({ prompt })
  await ask(url, body)
  return body.length
}

const single = () => savedSingly(16, 2048)
await measure('answer, a picture a node', {}, synchronous(single()))
await measure('… nothing cached', { RESULT_CACHE_MB: '0' }, synchronous(single()))
await measure('… read at 20 MB/s', {}, synchronous(single(), 20e6))
await measure('answer, one batch of 16', {}, synchronous(saved(16, 2048)))
await measure('webhook read at 1 MB/s', {}, told, 1e6)
await measure('… queue in memory', { JOB_STORE: 'memory' }, told, 1e6)
await measure('webhook that reads nothing', { WEBHOOK_TIMEOUT_S: '60' }, told, 0)
await measure('inputs of 12 MB in a body', {}, sent)

stdout.write(`${table(['what', 'bytes', 'server before', 'server grew by', 'engine grew by', 'both grew by'], rows)}\n`)
