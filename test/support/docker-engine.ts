import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type Container, type ContainerSettings, createContainer, Refusal } from './docker-container.ts'
import { emptyFolder } from './folder.ts'

/** An image of the stand-in. */
export interface StandInImage {
  /** Runs in place of it. */
  readonly command: readonly string[]
  /** Bytes of its compressed layers. */
  readonly layers: readonly number[]
  /** Whether it is here without having been pulled. */
  readonly isLocal?: boolean
  /** Who may pull it; anyone, if not given. */
  readonly login?: { readonly username: string; readonly password: string }
  /** How the pull fails when it has begun. */
  readonly failure?: string
}

export interface StandInOptions {
  readonly images: Readonly<Record<string, StandInImage>>
  /** What `HostConfig` may not have, and what the engine says to it. */
  readonly refuses?: Readonly<Record<string, string>>
  /** Of this machine in the engine's network. */
  readonly gateway?: string
}

/** What the stand-in answers: a status and a body, or nothing where it has written the answer itself. */
type Answer = { readonly status: number; readonly body?: unknown } | undefined

interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
}

/**
 * A stand-in for a Docker Engine, for the length of a test: its HTTP API on a Unix socket, with the shapes and the words of the
 * real one, as far as the platform speaks it. A container is a process of this machine with an address of its own.
 */
export async function standInEngine({ images, refuses = {}, gateway = '127.77.0.1' }: StandInOptions) {
  const folder = await emptyFolder()
  const here = new Set(Object.keys(images).filter((name) => images[name]!.isLocal))
  const containers = new Map<string, Container>()
  const execs = new Map<
    string,
    { readonly container: Container; readonly command: readonly string[]; code: number | null }
  >()
  /** Lines of requests, and bodies by which containers were created. */
  const heard: string[] = []
  const created: ContainerSettings[] = []
  let addresses = 1

  const find = (id: string): Container => {
    const found = containers.get(id)
    if (!found) throw new Refusal(404, `No such container: ${id}`)
    return found
  }
  const pull = async ({ request, response, query }: Call): Promise<Answer> => {
    const name = query.get('fromImage') ?? ''
    if (!/^[a-z0-9._:/@-]+$/.test(name)) throw new Refusal(400, 'invalid reference format')
    const image = images[name]
    if (!image || image.isLocal) {
      const why = "repository does not exist or may require 'docker login'"
      throw new Refusal(
        404,
        `pull access denied for ${name}, ${why}: denied: requested access to the resource is denied`,
      )
    }
    const given = request.headers['x-registry-auth']
    const login = given === undefined ? undefined : JSON.parse(Buffer.from(`${given}`, 'base64url').toString())
    if (image.login && (login?.username !== image.login.username || login?.password !== image.login.password))
      throw new Refusal(500, 'unauthorized: authentication required')
    response.writeHead(200, { 'content-type': 'application/json' })
    const say = (line: object) => void response.write(`${JSON.stringify(line)}\r\n`)
    say({ status: `Pulling from ${name}`, id: name.split(':').at(-1) })
    for (const [i, total] of image.layers.entries()) {
      const id = `layer${i}`
      say({ status: here.has(name) ? 'Already exists' : 'Pulling fs layer', progressDetail: {}, id })
      if (here.has(name)) continue
      say({ status: 'Downloading', progressDetail: { current: 1, total }, progress: '[>  ]', id })
      say({ status: 'Download complete', progressDetail: {}, id })
    }
    if (image.failure) say({ errorDetail: { message: image.failure }, error: image.failure })
    else here.add(name)
    response.end()
    return undefined
  }
  const create = ({ query, body }: Call): Answer => {
    const settings = body as unknown as ContainerSettings
    created.push(settings)
    const image = here.has(tagged(settings.Image)) ? images[tagged(settings.Image)] : undefined
    if (!image) throw new Refusal(404, `No such image: ${settings.Image}`)
    const refused = Object.keys(refuses).find((part) => part in settings.HostConfig)
    if (refused === 'StorageOpt') throw new Refusal(500, refuses[refused]!)
    const name = query.get('name') ?? randomBytes(6).toString('hex')
    if ([...containers.values()].some((one) => one.name === name))
      throw new Refusal(409, `Conflict. The container name "/${name}" is already in use by container`)
    const id = randomBytes(32).toString('hex')
    addresses += 1
    const address = gateway.replace(/\d+$/, `${addresses}`)
    const startFailure = refused === undefined ? undefined : refuses[refused]
    const usual = { id, name, address, startFailure, command: settings.Cmd ?? image.command, folder: join(folder, id) }
    containers.set(id, createContainer(settings, usual))
    return { status: 201, body: { Id: id, Warnings: [] } }
  }
  const routes: readonly (readonly [RegExp, (call: Call, id: string) => Answer | Promise<Answer>])[] = [
    [/^GET \/_ping$/, () => ({ status: 200, body: 'OK' })],
    [
      /^GET \/info$/,
      () => ({ status: 200, body: { NCPU: 2, ServerVersion: 'stand-in', Containers: containers.size } }),
    ],
    [
      /^GET \/networks\/bridge$/,
      () => ({ status: 200, body: { Name: 'bridge', IPAM: { Driver: 'default', Config: [{ Gateway: gateway }] } } }),
    ],
    [/^POST \/images\/create$/, pull],
    [
      /^GET \/images\/(.+)\/json$/,
      (_call, name) => {
        const full = tagged(name)
        if (!here.has(full)) throw new Refusal(404, `No such image: ${full}`)
        const Size = images[full]!.layers.reduce((sum, bytes) => sum + bytes, 0) * 3
        const RepoDigests = images[full]!.isLocal ? [] : [`${full.split(':')[0]}@sha256:${'a'.repeat(64)}`]
        return { status: 200, body: { Id: `sha256:${'b'.repeat(64)}`, RepoDigests, Size } }
      },
    ],
    [/^POST \/containers\/create$/, create],
    [
      /^GET \/containers\/json$/,
      ({ query }) => {
        const { label } = JSON.parse(query.get('filters') ?? '{}') as { label: string[] }
        const found = [...containers.values()].filter(({ settings }) =>
          label.every((each) => settings.Labels[each.split('=')[0]!] === each.split('=')[1]),
        )
        return { status: 200, body: found.map(({ id, name }) => ({ Id: id, Names: [`/${name}`] })) }
      },
    ],
    [/^GET \/containers\/(\w+)\/json$/, (_call, id) => ({ status: 200, body: find(id).inspect() })],
    [/^POST \/containers\/(\w+)\/attach$/, ({ response }, id) => find(id).attach(response)],
    [/^POST \/containers\/(\w+)\/wait$/, ({ response, query }, id) => find(id).wait(response, query.get('condition'))],
    [/^POST \/containers\/(\w+)\/start$/, async (_call, id) => ({ status: (await find(id).start()) ? 204 : 304 })],
    [
      /^POST \/containers\/(\w+)\/stop$/,
      async ({ query }, id) => ({ status: (await find(id).stop(Number(query.get('t')))) ? 204 : 304 }),
    ],
    [
      /^DELETE \/containers\/(\w+)$/,
      async (_call, id) => {
        await find(id).remove()
        containers.delete(id)
        return { status: 204 }
      },
    ],
    [
      /^POST \/containers\/(\w+)\/exec$/,
      ({ body }, id) => {
        const container = find(id)
        if (!container.isRunning()) throw new Refusal(409, `Container ${id} is not running`)
        const execId = randomBytes(32).toString('hex')
        execs.set(execId, { container, command: body.Cmd as string[], code: null })
        return { status: 201, body: { Id: execId } }
      },
    ],
    [
      /^POST \/exec\/(\w+)\/start$/,
      async ({ response }, id) => {
        const exec = execs.get(id)!
        exec.code = await exec.container.exec(exec.command, response)
        return undefined
      },
    ],
    [
      /^GET \/exec\/(\w+)\/json$/,
      (_call, id) => ({ status: 200, body: { ExitCode: execs.get(id)!.code, Running: false } }),
    ],
  ]

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://docker')
    const line = `${request.method} ${decodeURIComponent(pathname)}`
    heard.push(line)
    const content = await text(request)
    const body = content === '' ? {} : JSON.parse(content)
    for (const [pattern, act] of routes) {
      const found = pattern.exec(line)
      if (found) return act({ request, response, query: searchParams, body }, found[1] ?? '')
    }
    throw new Refusal(404, 'page not found')
  }
  const server = createServer((request, response) => {
    answer(request, response).then(
      (given) => {
        if (!given) return
        response.writeHead(given.status, { 'content-type': 'application/json', 'api-version': '1.41' })
        response.end(given.body === undefined ? undefined : JSON.stringify(given.body))
      },
      (error: unknown) => {
        response.writeHead(error instanceof Refusal ? error.status : 500, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ message: (error as Error).message }))
      },
    )
  })
  const socketPath = join(folder, 'docker.sock')
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  onTestFinished(async () => {
    await Promise.all([...containers.values()].map((container) => container.remove()))
    server.close().closeAllConnections()
  })
  return { socketPath, heard, created, containers: () => [...containers.values()] }
}

const tagged = (image: string): string => (/[:@][^/]*$/.test(image) ? image : `${image}:latest`)
