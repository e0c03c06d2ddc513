// What the management API sustains on the embedded database: node tools/bench/platform.mjs, after `npm run build`.
// As fast as they go over 32 connections, then at a fixed rate, half of what is promised; prints a Markdown table.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, execPath, stdout } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { table } from './server.mjs'

const SECONDS = Number(env.SECONDS ?? 10)
const CONNECTIONS = 32
const PROMISED = { reads: 2000, creations: 500 }

const folder = await mkdtemp(join(tmpdir(), 'easel-bench-'))
const platform = spawn(execPath, [`${env.EASEL_DIST ?? 'dist'}/platform/main.js`], {
  env: {
    ...env,
    ...{ PLATFORM_DATA_DIR: folder, MANAGEMENT_PORT: '0', STORAGE_PORT: '0', GATEWAY_PORT: '0', IMDS_PORT: '0' },
    ...{ REQUESTS_PER_MINUTE: '1000000', LOG_LEVEL: 'warn' }, // counted, but never refused
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
platform.stdout.resume()

async function addresses() {
  for (;;) {
    const text = await readFile(join(folder, 'platform.json'), 'utf8').catch(() => undefined)
    if (text) return JSON.parse(text)
    await pause(50)
  }
}

const { management, organization, project, api_key } = await addresses()
const pool = new Pool(management, { connections: CONNECTIONS, pipelining: 1 })
const queues = `/api/public/organizations/${organization}/projects/${project}/queues`

async function ask(method, path, body) {
  const headers = { 'service-api-key': api_key, ...(body && { 'content-type': 'application/json' }) }
  const answer = await pool.request({ method, path, headers, body: body && JSON.stringify(body) })
  const text = await answer.body.text()
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return JSON.parse(text)
}

await ask('POST', queues, { name: 'bench' })
const ids = []
const create = async (i) => {
  ids.push((await ask('POST', `${queues}/bench/jobs`, { input: { prompt: { number: i } } })).id)
}
for (let i = 0; i < 200; i++) await create(i)
const reads = [
  (i) => ask('GET', `${queues}/bench/jobs/${ids[i % ids.length]}`),
  (i) => ask('GET', `${queues}/bench/jobs/${ids[(i * 7) % ids.length]}`),
  (i) => ask('GET', i % 2 === 0 ? `${queues}/bench` : `/api/public/organizations/${organization}/gpu-classes`),
]
const read = (i) => reads[i % reads.length](i)

/** As many a second as `CONNECTIONS` askers get who each ask again when they are answered. */
async function most(act) {
  const began = performance.now()
  let done = 0
  const asker = async () => {
    while (performance.now() - began < SECONDS * 1000) await act(done++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, asker))
  return done / ((performance.now() - began) / 1000)
}

/** Sorted milliseconds from when each was due, whether or not the one before was answered. */
async function at(rate, act) {
  const took = []
  const asked = []
  const began = performance.now()
  for (let i = 0; i < rate * SECONDS; i++) {
    const due = began + (i * 1000) / rate
    if (due > performance.now()) await pause(due - performance.now())
    asked.push(act(i).then(() => took.push(performance.now() - due)))
  }
  await Promise.all(asked)
  return took.sort((a, b) => a - b)
}

const ms = (sorted, part) => `${sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(1)} ms`
const rows = []
for (const [name, act] of [
  ['reads', read],
  ['creations', create],
]) {
  await most(act) // warm
  const rate = await most(act)
  const half = await at(PROMISED[name] / 2, act)
  rows.push([name, `${Math.round(rate)}/s`, `${PROMISED[name] / 2}/s`, ms(half, 0.5), ms(half, 0.99), ms(half, 1)])
}
stdout.write(`${table(['job', 'at most', 'at', 'median', '99 %', 'slowest'], rows)}\n`)
await pool.close()
platform.kill()
await once(platform, 'close')
await rm(folder, { recursive: true })
