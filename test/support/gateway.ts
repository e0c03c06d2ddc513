import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createGateway, type GatewayServices } from '../../src/platform/gateway/gateway.ts'
import type { Networking, Target } from '../../src/platform/gateway/group.ts'

/** The host of the one group that tests ask for. */
export const HOST = 'group-ab12cd34.localhost'

const networking: Networking = {
  auth: false,
  load_balancer: 'round_robin',
  client_request_timeout: 2000,
  server_response_timeout: 2000,
  single_connection_limit: false,
}

/** A gateway in front of one group, for the length of a test; `targets` may change meanwhile. */
export async function gatewayTo(
  targets: readonly Target[] | (() => readonly Target[]),
  wishes: Partial<Networking> = {},
  { onArrival, ...services }: Partial<GatewayServices> & { readonly onArrival?: () => void } = {},
): Promise<number> {
  const group = { id: 'group', organization_id: 'acme', networking: { ...networking, ...wishes } }
  const nothing = () => undefined
  const gateway = createGateway({
    findGroup: async (host) => {
      onArrival?.()
      return host === HOST ? group : undefined
    },
    isMember: async (key, organization) => key === 'key' && organization === 'acme',
    targetsOf: (id) => (id !== 'group' ? [] : typeof targets === 'function' ? targets() : targets),
    baseUrl: 'http://api.test',
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    ...services,
  })
  onTestFinished(() => gateway.close())
  return gateway.listen(0)
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

/** An instance for the length of a test; by default it answers with its id. */
export async function instance(id: string, answer: Answer = (_, response) => response.end(id), host = '127.0.0.1') {
  const server = createServer((request, response) => void answer(request, response)).listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return { id, port: (server.address() as AddressInfo).port, server }
}

/** A port of this machine where nobody listens. */
export async function deafPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

export interface Asked {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
}

interface Question {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
}

/** A request for the group on a connection of its own, begun but not ended. */
export function begin(port: number, { method = 'GET', path = '/', headers = {}, signal }: Omit<Question, 'body'> = {}) {
  const all = { host: HOST, ...(headers as Record<string, string>) }
  return request({ port, method, path, headers: all, agent: false, ...(signal && { signal }) })
}

/** The answer to a request, read to its end. Rejects when it breaks off. */
export async function answerOf(asking: ReturnType<typeof begin>): Promise<Asked> {
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  const { statusCode: status = 0, headers, rawHeaders } = response
  return { status, headers, rawHeaders, body: Buffer.concat(pieces).toString() }
}

/** Asks the group and reads the answer to its end. */
export const ask = (port: number, { body, ...question }: Question = {}): Promise<Asked> =>
  answerOf(begin(port, question).end(body))
