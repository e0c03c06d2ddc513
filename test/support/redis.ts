import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { findRedis } from './redis-program.ts'

/** A Redis of one's own, on a free port of this machine. */
export interface RedisServer {
  readonly url: string
  /** Resolves when the process is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again with the same port and the same folder. */
  restart(): Promise<void>
}

export interface RedisOptions {
  /** Where it keeps its files; an empty one when it keeps none. */
  readonly folder: string
  /** Whether it writes everything down before it answers. */
  readonly appendonly: boolean
}

/** Why `startRedis` cannot work here; undefined when it can. */
export function redisMissing(): string | undefined {
  const found = findRedis()
  return typeof found === 'string' ? found : undefined
}

export async function startRedis({ folder, appendonly }: RedisOptions): Promise<RedisServer> {
  const program = findRedis()
  if (typeof program === 'string') throw new Error(program)
  const port = await freePort()
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    save: '',
    appendonly: appendonly ? 'yes' : 'no',
    appendfsync: 'always',
    databases: 10_000,
    'maxmemory-policy': 'noeviction',
  }
  const argv = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  const launch = async (): Promise<ChildProcess> => {
    const child = spawn(program.path, argv, { env: program.env, stdio: 'ignore' })
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`redis ended with exit code ${child.exitCode}`)
      await pause(20)
    }
    return child
  }
  let running: ChildProcess | undefined = await launch()
  return {
    url: `redis://127.0.0.1:${port}`,
    async stop(signal = 'SIGTERM') {
      const child = running
      running = undefined
      if (!child) return
      child.kill(signal)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
    async restart() {
      running = await launch()
    },
  }
}

/** Whether it is up and has read its files. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString().startsWith('+PONG'))
    })
    socket.once('error', () => resolve(false))
  })
}
