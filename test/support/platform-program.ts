import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface Program {
  /** Everything it wrote so far. */
  readonly lines: readonly string[]
  /** Waits for a line; rejects when the program ends without it. */
  line(pattern: RegExp): Promise<string>
  readonly pid: number
  /** Resolves with the exit code and signal. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<readonly [code: number | null, signal: string | null]>
}

const freePorts = { MANAGEMENT_PORT: '0', STORAGE_PORT: '0', IMDS_PORT: '0', GATEWAY_PORT: '0' }

/** Starts the built platform as users start it, on free ports; it ends with the test. */
export const startPlatform = (environment: Readonly<Record<string, string>>): Program =>
  startProgram('platform/main', { ...process.env, ...freePorts, ...environment })

/** Starts the built queue worker, which is told nothing else; it ends with the test. */
export const startWorker = (environment: Readonly<Record<string, string>>): Program =>
  startProgram('platform/worker-main', { PATH: process.env.PATH, ...environment })

/** The same as a platform starts it that dies at once. */
export const startOrphanedWorker = (environment: Readonly<Record<string, string>>): Program =>
  startProgram('platform/worker-main', { PATH: process.env.PATH, ...environment }, true)

function startProgram(name: string, env: NodeJS.ProcessEnv, isOrphaned = false): Program {
  const child = spawn(process.execPath, [`${process.env.EASEL_DIST ?? 'dist'}/${name}.js`], {
    env,
    stdio: ['ignore', 'pipe', 'pipe', isOrphaned ? 'ipc' : 'ignore'],
  })
  if (isOrphaned) child.disconnect()
  const lines: string[] = []
  const looking = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream!).on('line', (line) => {
      lines.push(line)
      for (const look of looking) look()
    })
  // Who has let go of it is not told that its streams are closed.
  const ended = once(child, isOrphaned ? 'exit' : 'close') as Promise<[number | null, string | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    lines,
    pid: child.pid ?? 0, // of a program that is not there
    ended,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((each) => pattern.test(each))
          if (found !== undefined) resolve(found)
        }
        looking.add(look)
        look()
        void ended.then(() => reject(new Error(`the program ended without ${pattern}:\n${lines.join('\n')}`)))
      }),
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
