import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Express } from 'express'
import { onTestFinished } from 'vitest'

/** Who an instance is. */
export const identity = {
  machine_id: 'c51a4f0e-5a0b-4f0b-8d4d-9d3f1c8e7a55',
  workload_id: 'f3a0c5d4-0a57-4b70-8b0a-3f6ac0a6f9b1',
  workload_name: 'reference-workload',
  organization_id: '0f8f1f6e-52c3-4d7b-9a53-6c1d2e3f4a5b',
  organization_name: 'acme',
}

/** A request; headers are pairs, so that one can be given twice. */
export interface Asked {
  readonly method?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Buffer
}

/** Serves `app` on a free port for the length of a test; gives its address and a way to ask it. */
export async function served(app: Express) {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const ask = async (path: string, { method = 'GET', headers = [['Metadata', 'true']], body }: Asked = {}) => {
    const flat = [['Host', `127.0.0.1:${port}`], ['Connection', 'close'], ...headers].flat()
    const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]
    const outgoing = request({ host: '127.0.0.1', port, path, method, headers: [...flat, ...length] })
    outgoing.end(body)
    const [response] = await once(outgoing, 'response')
    const answer = await text(response)
    return {
      status: response.statusCode as number,
      headers: response.headers as Readonly<Record<string, string>>,
      body: answer === '' ? undefined : JSON.parse(answer),
    }
  }
  return { uri: `http://127.0.0.1:${port}`, ask }
}
