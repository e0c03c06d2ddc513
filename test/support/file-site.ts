import { type EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../src/common/log.ts'
import { addressRules } from '../../src/workload/media/address-rules.ts'
import { createFetchFile, type FetchFile, type FetchLimits } from '../../src/workload/media/fetch-file.ts'
import { createIdentify } from '../../src/workload/media/identify.ts'
import { createOutbound } from '../../src/workload/media/outbound.ts'
import { createRemote, type OpenRemote, type RemoteDeps } from '../../src/workload/media/remote-file.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface Site {
  /** Without a slash at its end. */
  readonly origin: string
  /** What was asked for, in order. */
  readonly asked: readonly IncomingMessage[]
}

/** A server on this machine for the length of one test. */
export async function startSite(answer: Answer): Promise<Site> {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  return { origin: `http://127.0.0.1:${port}`, asked }
}

/** Answers with `file` as file servers do: whole or a range of it, and 304 to who has it. */
export function serveFile(file: Buffer, etag = '"1"'): Answer {
  return ({ headers }, response) => {
    response.setHeader('etag', etag)
    if (headers['if-none-match'] === etag) return void response.writeHead(304).end()
    const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
    if (from === undefined || (headers['if-range'] ?? etag) !== etag)
      return void response.writeHead(200, { 'content-length': file.length }).end(file)
    const rest = file.subarray(Number(from))
    const range = `bytes ${from}-${file.length - 1}/${file.length}`
    response.writeHead(206, { 'content-length': rest.length, 'content-range': range }).end(rest)
  }
}

/** Promises all of `file`, sends the first `bytes` and ends the connection once `progress` tells that they have come. */
export function breakOffAfter(bytes: number, file: Buffer, progress: EventEmitter): Answer {
  return (_request, response) => {
    const look = (received: number) => {
      if (received >= bytes) response.destroy()
    }
    progress.on('bytes', look)
    response.once('close', () => progress.off('bytes', look))
    response.writeHead(200, { 'content-length': file.length, etag: '"1"' }).write(file.subarray(0, bytes))
  }
}

/** Each answer once, the last one for all that follow. */
export function oneAfterTheOther(...answers: readonly Answer[]): Answer {
  let next = 0
  return (request, response) => answers[Math.min(next++, answers.length - 1)]!(request, response)
}

const noObjects: RemoteDeps['objects'] = { open: () => Promise.reject(new Error('no S3 here')) }

/** Opens URLs of this machine; there is no S3 unless it is given. */
export function remoteHere(objects: RemoteDeps['objects'] = noObjects): OpenRemote {
  const lookup = (_host: unknown, _options: unknown, done: (error: null, list: []) => void) => done(null, [])
  return createRemote({
    outbound: createOutbound(addressRules(['127.0.0.0/8']), lookup),
    identify: createIdentify({
      headersFor: () => ({}),
      storage: { url: undefined, organization: undefined, apiKey: undefined },
    }),
    objects,
  })
}

/** Fetches from this machine, without long pauses. */
export const fetchHere = (limits: Partial<FetchLimits> = {}, openRemote = remoteHere()): FetchFile =>
  createFetchFile(openRemote, { maxBytes: 2 ** 30, minFreeBytes: 0, firstPauseMs: 1, ...limits }, Date.now)

export const quiet = { log: silentLog, events: { downloaded: () => undefined, deleted: () => undefined } }
