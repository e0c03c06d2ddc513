import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

/** The built platform on one data folder, which is killed and started again. */
export interface PlatformProcess {
  /** Where it answers; those of the last start that came so far. */
  readonly book: PlatformBook
  /** What its starts wrote last. */
  readonly lines: readonly string[]
  /** Resolves when it is ready; rejects when it ends before. */
  start(): Promise<void>
  /** Begins a start that nobody waits for. */
  launch(): void
  /** Ends it at once, and nothing that it started. */
  kill(): Promise<void>
  /** Ends it as an operator would. Resolves with its exit code. */
  stop(): Promise<number | null>
  /** All processes that its starts have left or have now, themselves left out: they are known by their environment. */
  descendants(): Promise<readonly Descendant[]>
  /** Ends it and them at once. */
  sweep(): Promise<void>
}

/** A process of a container. */
export interface Descendant {
  readonly pid: number
  /** That of the container: it says so itself. */
  readonly instanceId: string | undefined
  /** Whether it is the application itself, and not something that the application started. */
  readonly leads: boolean
}

/** What the platform writes down for programs on its machine. */
export interface PlatformBook {
  readonly management: string
  readonly storage: string
  readonly gateway: string
  readonly organization: string
  readonly project: string
  readonly api_key: string
}

const LINES = 400

/** Its disk is `folder`; of the rest of the environment it gets `environment`. */
export function createPlatformProcess(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): PlatformProcess {
  let child: ChildProcess | undefined
  let book: PlatformBook | undefined
  const lines: string[] = []
  const bookFile = join(folder, 'platform.json')

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = child
    child = undefined
    if (!ending) return null
    if (ending.exitCode !== null || ending.signalCode !== null) return ending.exitCode
    const gone = once(ending, 'exit') as Promise<[number | null]>
    ending.kill(signal)
    const [code] = await gone
    return code
  }
  const launch = (): void => {
    rmSync(bookFile, { force: true }) // of a start that was killed, and does not answer
    child = spawn(process.execPath, [resolve(process.env.EASEL_DIST ?? 'dist', 'platform/main.js')], {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        LAUNCHER: 'process',
        ...{ PLATFORM_DATA_DIR: folder, MANAGEMENT_PORT: '0', STORAGE_PORT: '0', IMDS_PORT: '0', GATEWAY_PORT: '0' },
        HOME: folder, // which containers are told too: by it they are found
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream!).on('line', (line) => {
        lines.push(line)
        if (lines.length > LINES) lines.shift()
      })
  }
  const ready = async (): Promise<void> => {
    const starting = child
    for (;;) {
      if (!starting || starting.exitCode !== null || starting.signalCode !== null)
        throw new Error(`the platform ended at its start:\n${lines.slice(-20).join('\n')}`)
      const text = await readFile(bookFile, 'utf8').catch(() => undefined)
      if (text !== undefined) {
        book = JSON.parse(text) as PlatformBook
        return
      }
      await pause(20)
    }
  }
  const descendants = async (): Promise<readonly Descendant[]> => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
    const found = await Promise.all(pids.map((pid) => descendantOf(folder, pid)))
    return found.flatMap((each) => (each === undefined || each.pid === child?.pid ? [] : [each]))
  }
  return {
    get book() {
      if (!book) throw new Error('the platform has not started yet')
      return book
    },
    lines,
    launch,
    async start() {
      launch()
      await ready()
    },
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    descendants,
    async sweep() {
      await end('SIGKILL')
      for (const { pid } of await descendants()) killed(pid)
    },
  }
}

/** False when it had ended by itself. */
export function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

async function descendantOf(folder: string, pid: number): Promise<Descendant | undefined> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '') // gone, or another user's
  const variables = (await read('environ')).split('\0')
  if (!variables.includes(`HOME=${folder}`)) return undefined
  const stat = await read('stat')
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || state === '' || state === 'Z') return undefined
  const told = variables.find((each) => each.startsWith('INSTANCE_ID='))
  return { pid, instanceId: told?.slice('INSTANCE_ID='.length), leads: Number(group) === pid }
}
