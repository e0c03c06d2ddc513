import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { customNodes } from './engine.ts'

export interface Server {
  readonly url: string
  readonly processId: number
  /** Milliseconds from spawning to the first line. */
  readonly listeningAfter: number
  /** Everything it wrote. */
  readonly lines: readonly string[]
  /** The files and folders of jobs that are there now. */
  spooled(): Promise<readonly string[]>
  post(body: unknown, init?: RequestInit): Promise<Response>
  /** Waits for a line. */
  line(pattern: RegExp): Promise<string>
  /** Resolves with the exit code and signal. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>
  stop(signal?: NodeJS.Signals): Promise<readonly [code: number | null, signal: string | null]>
}

/** The built server as a process on a free port, whose folders are below `home`. */
export const serverProcess = (home: string, environment: Readonly<Record<string, string | undefined>>) =>
  spawn(process.execPath, [`${process.env.EASEL_DIST ?? 'dist'}/workload/main.js`], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      COMFY_HOME: home,
      EXECUTION_PROVIDER: 'cpu',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

/** Starts the built server as users start it, on a free port, with nodes that need no model, and waits until it listens. */
export async function spawnServer(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
  const home = await mkdtemp(join(tmpdir(), 'easel-'))
  const began = performance.now()
  const child = serverProcess(home, { CUSTOM_NODES_DIR: customNodes, ...environment })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      for (const look of waiting) look()
    })
  const ended = once(child, 'close').finally(() => rm(home, { recursive: true, force: true })) as Promise<
    [number | null, string | null]
  >
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = lines.find((each) => pattern.test(each))
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      void ended.then(() => reject(new Error(`the server ended without ${pattern}:\n${lines.join('\n')}`)))
    })
  const listening = await line(/^listening on /)
  const listeningAfter = performance.now() - began
  const url = /http\S+/.exec(listening)![0]
  return {
    url,
    processId: child.pid!,
    listeningAfter,
    lines,
    line,
    ended,
    spooled: () => readdir(join(home, 'output', 'spool')).catch(() => []),
    post: (body, init) =>
      fetch(`${url}/prompt`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** The same, ready for prompts. */
export async function startServer(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
  const server = await spawnServer(environment)
  await server.line(/^ready in /)
  return server
}
