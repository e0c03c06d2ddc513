import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface Program {
  /** Everything it wrote so far. */
  readonly lines: readonly string[]
  /** Waits for a line; rejects when the program ends without it. */
  line(pattern: RegExp): Promise<string>
  /** Resolves with the exit code and signal. */
  stop(signal?: NodeJS.Signals): Promise<readonly [code: number | null, signal: string | null]>
}

/** Starts the built platform as users start it, on free ports; it ends with the test. */
export function startPlatform(environment: Readonly<Record<string, string>>): Program {
  const child = spawn(process.execPath, [`${process.env.EASEL_DIST ?? 'dist'}/platform/main.js`], {
    env: { ...process.env, MANAGEMENT_PORT: '0', STORAGE_PORT: '0', GATEWAY_PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const looking = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      for (const look of looking) look()
    })
  const ended = once(child, 'close') as Promise<[number | null, string | null]>
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    lines,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = lines.find((each) => pattern.test(each))
          if (found !== undefined) resolve(found)
        }
        looking.add(look)
        look()
        void ended.then(() => reject(new Error(`the platform ended without ${pattern}:\n${lines.join('\n')}`)))
      }),
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}
