import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

/** Of an `EngineRefused`: there is no such image or container. */
export const NOT_FOUND = 404

/** The engine understood and refuses; the message is its own. */
export class EngineRefused extends Error {
  override readonly name = 'EngineRefused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** What a request to the engine has beside its path. */
export interface EngineRequest {
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The Docker Engine's HTTP API, in whatever version the engine itself prefers. */
export interface DockerEngine {
  /** Sends `{method} {path}` and resolves when the head of the answer is there. Throws `EngineRefused`. */
  open(line: string, options?: EngineRequest): Promise<IncomingMessage>
  /** The same, and reads the answer. */
  ask<T>(schema: z.ZodType<T>, line: string, options?: EngineRequest): Promise<T>
  /** The same where the answer says nothing. */
  tell(line: string, options?: EngineRequest): Promise<void>
}

const refusal = z.object({ message: z.string() })

/** Speaks to the engine that listens on a Unix socket; each request has a connection of its own, for some last for hours. */
export function createDockerEngine(socketPath: string): DockerEngine {
  const open: DockerEngine['open'] = async (line, { query = {}, headers = {}, body, signal } = {}) => {
    const [method, path = ''] = line.split(' ')
    const search = new URLSearchParams(query).toString()
    const sent = request({
      ...{ socketPath, method, agent: false },
      path: search === '' ? path : `${path}?${search}`,
      headers: { host: 'docker', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(signal && { signal }),
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const { statusCode = 0 } = response
    if (statusCode < 400) return response
    throw new EngineRefused(statusCode, reasonIn(await text(response)) ?? `Docker answered with status ${statusCode}.`)
  }
  return {
    open,
    async ask(schema, line, options) {
      return schema.parse(JSON.parse(await text(await open(line, options))))
    },
    async tell(line, options) {
      await text(await open(line, options))
    },
  }
}

function reasonIn(body: string): string | undefined {
  try {
    return refusal.parse(JSON.parse(body)).message
  } catch {
    return undefined // a proxy's words, and not the engine's
  }
}
