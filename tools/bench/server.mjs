// Starts the built server for a measurement and reads what it says of itself.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
// biome-ignore lint/correctness/useImportExtensions: it takes the file with the types for the program
import { childrenOf } from './resident-memory.mjs'

/** The server on a free port; times are milliseconds since the process was spawned. */
export async function startServer(environment = {}) {
  const home = await mkdtemp(join(tmpdir(), 'easel-bench-'))
  const began = performance.now()
  const child = spawn(process.execPath, [`${process.env.EASEL_DIST ?? 'dist'}/workload/main.js`], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      COMFY_HOME: home,
      MODEL_DIR: resolve('models'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const agent = new Agent({ keepAlive: true })
  const waiting = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    for (const wait of waiting) wait(line)
  })
  const said = (pattern) =>
    new Promise((found) => waiting.push((line) => pattern.test(line) && found({ line, at: performance.now() - began })))
  const [listening, ready] = [said(/^listening on/), said(/^ready in/)]
  const { line, at: listeningAfter } = await listening
  const { at: readyAfter } = await ready
  const url = /http\S+/.exec(line)[0]
  /** Wall time is from sending the request to the last byte of the answer, over a connection that is kept. */
  const ask = async (method, path, sent) => {
    const from = performance.now()
    const asked = request(url + path, { method, agent, headers: { 'content-type': 'application/json' } }).end(sent)
    const [response] = await once(asked, 'response')
    const parts = []
    for await (const part of response) parts.push(part)
    return { wall: performance.now() - from, body: Buffer.concat(parts) }
  }
  return {
    url,
    listeningAfter,
    readyAfter,
    processId: child.pid,
    async draw(prompt) {
      const { body, wall } = await ask('POST', '/prompt', JSON.stringify({ prompt }))
      const answer = JSON.parse(body)
      if (!answer.images) throw new Error(answer.detail)
      return { answer, wall }
    },
    health: async () => (await ask('GET', '/health')).wall,
    /** The largest resident size that the server and its engines ever had, in bytes. */
    peakMemory: () => [child.pid, ...childrenOf(child.pid)].reduce((sum, pid) => sum + peakOf(pid), 0),
    async stop() {
      agent.destroy()
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(home, { recursive: true, force: true })
    },
  }
}

const peakOf = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

/** `rows` of equal length as a Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
