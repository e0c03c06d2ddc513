import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { sharedFolder } from './folder.ts'
import { freePort } from './free-port.ts'

/** A PostgreSQL of one's own, on a free port of this machine. */
export interface PostgresServer {
  /** Makes an empty database and resolves with its URL. */
  database(): Promise<string>
  /** Ends it as its operator would: connections are cut. */
  stop(): Promise<void>
  /** Starts it again with the same port and the same databases. */
  start(): Promise<void>
}

/** Who runs it when tests run as root, whom it refuses: nobody. */
const NOBODY = 65_534

const asNobody = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {})

/** The folder of the programs `initdb` and `postgres`; or why there is none. */
export function findPostgres(): { readonly bin: string } | string {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql').sort().reverse() : []
  const folders = [
    ...(process.env.PATH ?? '').split(':'),
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
    '/usr/local/bin',
  ]
  const bin = folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))))
  return bin === undefined ? 'there is no PostgreSQL: neither initdb nor postgres is installed' : { bin }
}

/** Why `startPostgres` cannot work here; empty when it can. */
export function postgresMissing(): string {
  const found = findPostgres()
  return typeof found === 'string' ? found : ''
}

/** Starts one that keeps its files in `folder`, which must be empty, and writes them carelessly. */
async function startPostgres(folder: string): Promise<PostgresServer> {
  const found = findPostgres()
  if (typeof found === 'string') throw new Error(found)
  const { bin } = found
  const as = asNobody()
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid)
  const data = join(folder, 'data')
  const made = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(bin, 'initdb'), made, { cwd: folder, stdio: 'ignore', ...as })
  const port = await freePort()
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' }
  const argv = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let running: ChildProcess | undefined
  let count = 0
  const url = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`
  const server: PostgresServer = {
    async database() {
      const name = `test_${++count}`
      const client = new pg.Client(url('postgres'))
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      return url(name)
    },
    async stop() {
      const child = running
      running = undefined
      if (!child) return
      child.kill('SIGINT')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
    async start() {
      const child = spawn(join(bin, 'postgres'), ['-D', data, ...argv], { cwd: folder, stdio: 'ignore', ...as })
      running = child
      while (!(await answers(url('postgres')))) {
        if (child.exitCode !== null) throw new Error(`postgres ended with exit code ${child.exitCode}`)
        await pause(20)
      }
    },
  }
  await server.start()
  return server
}

/** To be called while tests are declared: one server for the file, where there can be one. */
export function sharedPostgres(): () => PostgresServer {
  const folder = sharedFolder()
  let server: PostgresServer | undefined
  beforeAll(async () => {
    if (postgresMissing() === '') server = await startPostgres(folder())
  }, 60_000)
  afterAll(() => server?.stop())
  return () => {
    if (!server) throw new Error('it is started before the tests')
    return server
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client(url)
  client.on('error', () => undefined) // it may end again while we ask
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined) // never connected
  }
}
