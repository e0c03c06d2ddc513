import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { constants } from 'node:os'
import { resolve } from 'node:path'

const addressModule = resolve('test/fixtures/container-address.cjs')

/** What the engine answers with another status than one of success. */
export class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What the stand-in reads of the body by which a container is created. */
export interface ContainerSettings {
  readonly Image: string
  readonly Cmd?: readonly string[]
  readonly Hostname?: string
  readonly Env: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly HostConfig: {
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp: string }[]>>
    readonly [other: string]: unknown
  }
}

/** What the stand-in decides about a container. */
export interface ContainerPlace {
  readonly id: string
  readonly name: string
  readonly address: string
  readonly command: readonly string[]
  readonly folder: string
  readonly startFailure: string | undefined
}

export type Container = ReturnType<typeof createContainer>

/** A container of the stand-in: a process with an address, and a listener for each port that is mapped. */
export function createContainer(settings: ContainerSettings, place: ContainerPlace) {
  const { id, name, address, command, folder, startFailure } = place
  const env = {
    PATH: process.env.PATH ?? '',
    ...Object.fromEntries(
      settings.Env.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
    CONTAINER_ADDRESS: address,
    NODE_OPTIONS: `--require ${addressModule}`,
  }
  const readers = new Set<ServerResponse>()
  const waiting = new Set<ServerResponse>()
  const mapped = new Map<string, Server>()
  let child: ChildProcess | undefined
  let code = 0

  const isRunning = (): boolean => child !== undefined
  const tell = (response: ServerResponse): void => void response.end(JSON.stringify({ StatusCode: code }))
  const map = async (port: string): Promise<void> => {
    const server = createServer((client) => {
      const inside = connect({ host: address, port: Number(port.split('/')[0]) })
      for (const [one, other] of [
        [client, inside],
        [inside, client],
      ] as const)
        one.pipe(other).on('close', () => one.destroy())
      for (const socket of [client, inside]) socket.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    mapped.set(port, server)
  }
  const ended = (exitCode: number): void => {
    child = undefined
    code = exitCode
    for (const server of mapped.values()) server.close()
    mapped.clear()
    for (const response of readers) response.end()
    for (const response of waiting) tell(response)
    readers.clear()
    waiting.clear()
  }
  const container = {
    ...{ id, name, address, settings, isRunning },
    inspect: () => ({
      Id: id,
      Name: `/${name}`,
      State: { Running: isRunning(), ExitCode: code },
      NetworkSettings: {
        Ports: Object.fromEntries(
          [...mapped].map(([port, server]) => [
            port,
            [{ HostIp: '127.0.0.1', HostPort: `${(server.address() as AddressInfo).port}` }],
          ]),
        ),
        Networks: { bridge: { IPAddress: isRunning() ? address : '' } },
      },
    }),
    attach(response: ServerResponse): undefined {
      response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' })
      response.flushHeaders()
      readers.add(response)
    },
    wait(response: ServerResponse, condition: string | null): undefined {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.flushHeaders()
      if (condition === 'not-running' && !isRunning()) tell(response)
      else waiting.add(response)
    },
    async start(): Promise<boolean> {
      if (isRunning()) return false
      if (startFailure !== undefined) throw new Refusal(500, startFailure)
      await mkdir(folder, { recursive: true })
      const started = spawn(command[0] ?? '', command.slice(1), { cwd: folder, env, detached: true })
      const failure = await new Promise<Error | undefined>((done) => {
        started.once('spawn', () => done(undefined)).once('error', done)
      })
      const why = `OCI runtime create failed: exec: "${command[0]}": executable file not found in $PATH: unknown`
      if (failure) throw new Refusal(400, `failed to create shim task: ${why}`)
      child = started
      await Promise.all(Object.keys(settings.HostConfig.PortBindings).map(map))
      for (const [which, stream] of [started.stdout, started.stderr].entries())
        stream.on('data', (bytes: Buffer) => {
          for (const reader of readers) reader.write(frame(which + 1, bytes))
        })
      started.once('close', (exitCode, signal) => ended(exitCode ?? 128 + constants.signals[signal!]))
      return true
    },
    async stop(seconds: number): Promise<boolean> {
      if (!child) return false
      const { pid } = child
      const closed = once(child, 'close')
      process.kill(-pid!, 'SIGTERM')
      const late = setTimeout(() => process.kill(-pid!, 'SIGKILL'), seconds * 1000)
      await closed
      clearTimeout(late)
      return true
    },
    async remove(): Promise<void> {
      if (child) {
        const closed = once(child, 'close')
        process.kill(-child.pid!, 'SIGKILL')
        await closed
      }
      await rm(folder, { recursive: true, force: true })
    },
    /** Runs a command in the container's folder; its output goes to `response`, which ends with it. */
    async exec(words: readonly string[], response: ServerResponse): Promise<number> {
      response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' })
      const run = spawn(words[0] ?? '', words.slice(1), { cwd: folder, env })
      run.stdout.on('data', (bytes: Buffer) => response.write(frame(1, bytes)))
      const exitCode = await new Promise<number>((done) => {
        run.once('error', () => done(127)).once('close', (given) => done(given ?? 137))
      })
      // The exit code can be asked for when the output has ended.
      setImmediate(() => response.end())
      return exitCode
    },
  }
  return container
}

/** Output as the engine sends it: which stream, its length, and the bytes. */
function frame(which: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt8(which, 0)
  head.writeUInt32BE(bytes.length, 4)
  return Buffer.concat([head, bytes])
}
