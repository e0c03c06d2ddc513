import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { serverProcess } from '../../test/support/server.ts'

/** A server that is killed and started again, on one disk and one port. */
export interface Workload {
  /** Undefined while it is down. */
  readonly url: string | undefined
  /** How often it was killed. */
  readonly kills: number
  start(): Promise<void>
  kill(): Promise<void>
  /** Ends it as an operator would. Resolves with its exit code. */
  stop(): Promise<number | null>
  /** The folders of runs that lie on its disk. */
  spooled(): Promise<readonly string[]>
  /** What it wrote last. */
  readonly lines: readonly string[]
}

const LINES = 200

/** `home` is its disk. */
export function createWorkload(home: string, environment: Readonly<Record<string, string>>): Workload {
  let child: ChildProcess | undefined
  let url: string | undefined
  let kills = 0
  const lines: string[] = []

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child
    url = child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return null
    const gone = once(ending, 'exit') as Promise<[number | null]>
    ending.kill(signal)
    const [code] = await gone
    return code
  }
  return {
    get url() {
      return url
    },
    get kills() {
      return kills
    },
    lines,
    async start() {
      await mkdir(home, { recursive: true })
      const started = serverProcess(home, environment)
      child = started
      await new Promise<void>((ready, fail) => {
        started.once('exit', () => fail(new Error(`a workload ended at start:\n${lines.slice(-20).join('\n')}`)))
        for (const stream of [started.stdout, started.stderr])
          createInterface(stream).on('line', (line) => {
            lines.push(line)
            if (lines.length > LINES) lines.shift()
            if (line.startsWith('listening on ') && child === started) url = /http\S+/.exec(line)?.[0]
            if (line.startsWith('ready in ')) ready()
          })
      })
    },
    async kill() {
      kills++
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
    spooled: () => readdir(join(home, 'output', 'spool')).catch(() => []),
  }
}
