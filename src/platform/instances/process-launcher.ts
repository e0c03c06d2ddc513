import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import { commandOfImage, type ImageCommands } from './image-commands.ts'
import { ImageUnavailable, type Launcher, type RunningContainer, type StartOrder } from './launcher.ts'
import { endGroup, processBirth, signalGroup } from './process-group.ts'
import { strayGroups } from './stray-processes.ts'

/** What a shell answers for a program that is not there. */
const NOT_FOUND = 127
/** What is left of an earlier process of the platform gets so long to end by itself. */
const LEFTOVER_GRACE_MS = 2000

export interface ProcessLauncherOptions {
  /** For the folders of the nodes, and for notes on what runs. */
  readonly folder: string
  /** What a group runs whose `container.command` is empty. */
  readonly images: ImageCommands
  /** What every container finds in its environment, e.g. `PATH`. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Runs each container as a process of this machine, in a group of processes of its own, with `PORT` naming a free port. There
 * is one port an application: whichever a group names leads there. Images are not fetched.
 */
export function createProcessLauncher({ folder, images, environment }: ProcessLauncherOptions): Launcher {
  const nodes = join(folder, 'nodes')
  const notes = join(folder, 'running')
  const commandOf = ({ image, command }: StartOrder['container']): readonly string[] =>
    command.length > 0 ? command : (commandOfImage(images, image) ?? [])

  return {
    async prepare(container) {
      if (commandOf(container).length > 0) return {}
      throw new ImageUnavailable(`The image ${container.image} cannot be pulled here: give container.command.`)
    },

    async start({ machineId, fresh, container, environment: told, onLine }) {
      const [program = '', ...words] = commandOf(container)
      const cwd = join(nodes, machineId)
      if (fresh) await rm(cwd, { recursive: true, force: true })
      await mkdir(cwd, { recursive: true })
      await mkdir(notes, { recursive: true })
      const port = await freePort()
      const env = { ...environment, ...container.environment_variables, ...told, PORT: `${port}` }
      const argv = ['-c', HELD, 'sh', program, ...words]
      const child = spawn('/bin/sh', argv, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
      const ended = exitOf(child)
      for (const stream of [child.stdout, child.stderr])
        if (stream) createInterface({ input: stream }).on('line', onLine)
      const note = join(notes, `${machineId}.json`)
      const { pid } = child
      if (pid !== undefined) {
        try {
          await writeNote(note, { pid, birth: await processBirth(pid) })
        } catch (error) {
          signalGroup(pid, 'SIGKILL')
          throw error
        }
      }
      letGo(child)
      const gone = ended.then(async (code) => {
        if (pid !== undefined) signalGroup(pid, 'SIGKILL') // what it started and left
        await rm(note, { force: true })
        return code
      })
      return {
        portOf: () => port,
        ended: gone,
        stop: (graceMs) => stop(child, gone, graceMs),
        exec: (command, signal) => exec(command, { cwd, env }, signal),
      }
    },

    leave: (machineId) => rm(join(nodes, machineId), { recursive: true, force: true }),

    async sweep() {
      const names = await readdir(notes).catch(() => [])
      await Promise.all(
        names.map(async (name) => {
          const note = join(notes, name)
          const { pid, birth }: Note = name.endsWith('.json') ? JSON.parse(await readFile(note, 'utf8')) : { pid: 0 }
          if (birth !== undefined && birth === (await processBirth(pid))) await endGroup(pid, LEFTOVER_GRACE_MS)
          await rm(note, { force: true })
        }),
      )
      await Promise.all([...(await strayGroups(nodes))].map((group) => endGroup(group, LEFTOVER_GRACE_MS)))
    },
  }
}

/**
 * A program that waits for a line on its fourth stream before it becomes another one, in the same process. Where the platform
 * dies before it has noted the process there is none, so nothing runs that nobody knows of.
 */
const HELD = 'read -r go <&3 && exec 3<&- && exec "$@"'

function letGo({ stdio }: ChildProcess): void {
  const hold = stdio[3] as Writable // a pipe that is written to
  hold.on('error', () => undefined) // it has ended meanwhile, which is told by its exit
  hold.end('\n')
}

/** Which process runs on a node. */
interface Note {
  readonly pid: number
  /** See `processBirth`. */
  readonly birth?: string | undefined
}

/** Half a note would keep the next platform from starting, so there is a whole one or none. */
async function writeNote(file: string, note: Note): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(note))
  await rename(`${file}.new`, file)
}

async function stop({ pid }: ChildProcess, gone: RunningContainer['ended'], graceMs: number): Promise<void> {
  if (pid === undefined) return
  signalGroup(pid, 'SIGTERM')
  const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs)
  await gone
  clearTimeout(timer)
}

async function exec(
  [program = '', ...words]: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<number> {
  const child = spawn(program, words, { cwd, env, detached: true, stdio: 'ignore' })
  const kill = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', kill)
  const code = await exitOf(child)
  signal.removeEventListener('abort', kill)
  return code
}

/** Never rejects: what cannot be started has ended too. */
const exitOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.on('error', () => {
      if (child.pid === undefined) resolve(NOT_FOUND)
    })
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || !address) throw new Error('a listening socket has a port')
  return address.port
}
