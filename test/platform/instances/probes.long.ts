import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { probeSchemas } from '../../../src/contracts/platform/probe.ts'
import { checkOnce } from '../../../src/platform/instances/probe-check.ts'
import { type ProbeResult, watchProbe } from '../../../src/platform/instances/watch-probe.ts'
import { type BenchOptions, groupBench, groupBody, soon } from '../../support/container-groups.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const bench = (options: BenchOptions = {}) => groupBench(database(), options)
const quick = { period_seconds: 1, initial_delay_seconds: 0, success_threshold: 1, failure_threshold: 1 }
const probed = (path: string) => ({ ...quick, timeout_seconds: 5, http: { path, port: 3000 } })

/** Checks an application that listens on `port` and runs every command with the exit code 3. */
const check = (mechanism: object, port: number): Promise<boolean> => {
  const container = {
    portOf: () => port,
    ended: new Promise<number>(() => undefined),
    stop: async () => undefined,
    exec: async () => 3,
  }
  const probe = probeSchemas.liveness_probe.parse(mechanism)
  return checkOnce(probe, container, AbortSignal.timeout(5000)).catch(() => false)
}

async function site(): Promise<number> {
  const server = createServer(({ url, headers }, response) => {
    response.statusCode = Number(headers['x-status'] ?? url?.slice(1))
    response.end()
  }).listen(0)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function grpcSite(status: number): Promise<number> {
  const server = createHttp2().listen(0)
  server.on('stream', (stream) =>
    stream.once('data', (piece: Buffer) => {
      const isAsked = piece.subarray(7).toString() === 'painter'
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.end(Buffer.from([0, 0, 0, 0, 2, 8, isAsked ? status : 3]))
    }),
  )
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('one check', () => {
  it.each([
    [200, true],
    [204, true],
    [302, true],
    [399, true],
    [400, false],
    [503, false],
  ])('of HTTP with status %i is %s', async (status, result) => {
    const port = await site()
    expect(await check({ http: { path: `/${status}`, port: 3000 } }, port)).toBe(result)
    const headers = [{ name: 'X-Status', value: `${status}` }]
    expect(await check({ http: { path: '/200', port: 3000, headers } }, port)).toBe(result)
  })

  it('of TCP tells whether the connection opens', async () => {
    const port = await site()
    expect([await check({ tcp: { port: 3000 } }, port), await check({ tcp: { port: 3000 } }, 1)]).toEqual([true, false])
  })

  it('of a command succeeds with exit code 0 only', async () => {
    expect(await check({ exec: { command: ['anything'] } }, 1)).toBe(false)
  })

  it.each([
    [1, true],
    [2, false],
  ])('of gRPC with status %i is %s', async (status, result) => {
    expect(await check({ grpc: { port: 3000, service: 'painter' } }, await grpcSite(status))).toBe(result)
  })

  it('of a port that cannot exist fails', async () => {
    const port = await site()
    for (const mechanism of [{ http: { path: '/200', port: 65_536 } }, { tcp: { port: 0 } }, { grpc: { port: 0 } }])
      expect(await check(mechanism, port)).toBe(false)
  })
})

it('a probe changes its result after as many checks in a row as its thresholds say', async () => {
  const probe = { ...probeSchemas.liveness_probe.parse({ tcp: { port: 1 } }), period_seconds: 0.01 }
  const answers = [true, false, true, true, false, true, false, false]
  const results: ProbeResult[] = []
  const ending = new AbortController()
  const next = async () => {
    if (answers.length === 1) ending.abort()
    return answers.shift() ?? true
  }
  const thresholds = { success_threshold: 2, failure_threshold: 2 }
  await watchProbe({ ...probe, ...thresholds }, next, (result) => results.push(result), ending.signal)
  expect(results).toEqual(['success'])
})

describe('an instance', () => {
  it('is not ready while its readiness probe fails, and runs on', async () => {
    const { settled, list, instances } = await bench()
    const { id } = await settled(groupBody('first', { readiness_probe: probed('/broken') }))
    expect(await list('first')).toMatchObject([{ state: 'running', started: true, ready: false }])
    expect(instances().targetsOf(id)).toEqual([])
  })

  it('is started when its startup probe succeeded, and ready with it', async () => {
    const { settled, list, events } = await bench()
    const startup_probe = { ...probed('/'), failure_threshold: 20 } // applications take a moment to listen
    await settled(groupBody('first', { startup_probe }))
    await soon(async () => expect(await list('first')).toMatchObject([{ started: true, ready: true }]))
    await soon(async () => expect(await events()).toContain('Instance Startup Probe Passed'))
  })

  it.each([
    ['startup_probe', 'Instance Interrupted (Startup Probe Failure)'],
    ['liveness_probe', 'Instance Interrupted (Liveness Probe Failure)'],
  ])('moves to another node when its %s fails', async (member, event) => {
    const { send, events, list } = await bench()
    await send('POST ', groupBody('first', { [member]: probed('/broken') }))
    const [before] = await soon(async () => {
      const found = await list('first')
      expect(found).toMatchObject([{ state: 'running' }])
      return found
    })
    await soon(async () => expect(await events()).toContain(event))
    await soon(async () => {
      const running = (await list('first')).filter(({ state }) => state !== 'stopping')
      expect(running.length === 1 && running[0]?.machine_id !== before?.machine_id).toBe(true)
    })
  })
})
