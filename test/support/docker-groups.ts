import { decodeJwt } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { silentLog } from '../../src/common/log.ts'
import type { Database } from '../../src/platform/base/database.ts'
import { listen } from '../../src/platform/base/listen.ts'
import { createIdentityTokens } from '../../src/platform/imds/identity-tokens.ts'
import { weekly } from '../../src/platform/imds/key-schedule.ts'
import { createSigningKeys } from '../../src/platform/imds/signing-keys.ts'
import { createDockerEngine } from '../../src/platform/instances/docker-engine.ts'
import { openContainers, withMetadata } from '../../src/platform/wiring/launchers.ts'
import { createMetadataServices } from '../../src/platform/wiring/metadata-services.ts'
import { groupBench, groupBody, networking, soon } from './container-groups.ts'
import type { DockerPlace } from './docker-bench.ts'
import { BASE_URL } from './management.ts'

/** Tells of its starts and its environment, and what it is answered by others. */
const application = `const fs = require('node:fs'); fs.appendFileSync('starts', 'x')
  require('node:http').createServer(async ({ url }, response) => {
    const to = new URL(url, 'http://x').searchParams.get('to')
    if (url === '/starts') response.end(fs.readFileSync('starts'))
    else if (!to) response.end(JSON.stringify(process.env))
    else {
      const answer = await fetch(to, { headers: { Metadata: 'true' } })
      response.statusCode = answer.status
      response.end(await answer.text())
    }
  }).listen(3000)`
const quick = { period_seconds: 1, initial_delay_seconds: 0, success_threshold: 1, timeout_seconds: 10 }

const containersSchema = z.array(z.object({ State: z.string().optional() }))

/** A platform whose containers are an engine's. */
async function dockerBench(database: Database, { socketPath, image }: DockerPlace) {
  const { db } = database
  const config = { dataDir: `/nowhere/${crypto.randomUUID()}`, launcher: 'docker', imagesFile: undefined } as const
  const opened = await openContainers(
    { ...config, dockerHost: `unix://${socketPath}`, containerEnvironment: { PATH: '', HOME: '' }, modelDir: '' },
    {},
    { now: Date.now, log: silentLog },
  )
  const keys = createSigningKeys({ db, now: Date.now, schedule: weekly })
  const metadata = createMetadataServices({
    ...{ baseUrl: BASE_URL, cacheSeconds: 0, now: Date.now, log: silentLog, host: opened.metadata },
    tokens: createIdentityTokens({ keys, now: Date.now, issuer: BASE_URL, lifetimeSeconds: 300 }),
    instanceAt: (address) => bench.instances().instanceAt(address),
  })
  const shared = await listen('0.0.0.0', 0)
  shared.answer(metadata.answerAll)
  onTestFinished(async () => void (await Promise.all([shared.close(0), metadata.close()])))
  const bench = await groupBench(database, {
    deps: {
      launcher: withMetadata(opened.launcher, metadata),
      imdsFor: (place) => metadata.start(place, bench.instances().imdsInstance(place.id)),
      imdsGone: metadata.stop,
    },
  })
  const engine = createDockerEngine(socketPath)
  return {
    ...bench,
    body: (more: object = {}) =>
      groupBody('first', {
        networking,
        container: { image, command: ['node', '-e', application], resources: { cpu: 1, memory: 1024 } },
        ...more,
      }),
    sharedUri: `http://${opened.metadata.address}:${shared.port}`,
    containers: () =>
      engine.ask(containersSchema, 'GET /containers/json', {
        query: { all: '1', filters: '{"label":["easel.machine"]}' },
      }),
    /** Asks the application of an instance. */
    async ask(groupId: string, instanceId: string | undefined, path: string) {
      const target = bench
        .instances()
        .targetsOf(groupId)
        .find((one) => one.instanceId === instanceId)
      if (!target) throw new Error('the instance is not ready')
      const response = await fetch(`http://127.0.0.1:${target.port}${path}`)
      return { status: response.status, body: await response.text() }
    },
  }
}

/** What whole groups do on any engine. */
export function describeDockerGroups(
  database: () => Database,
  placeFor: () => DockerPlace | Promise<DockerPlace>,
): void {
  it('keeps a group with every kind of probe, and each instance is known by its own address', async () => {
    const { settled, list, ask, body, sharedUri } = await dockerBench(database(), await placeFor())
    const group = await settled(
      body({
        replicas: 2,
        startup_probe: { ...quick, tcp: { port: 3000 } },
        readiness_probe: { ...quick, http: { path: '/', port: 3000 } },
        liveness_probe: { ...quick, exec: { command: ['node', '-e', '0'] } },
      }),
    )
    expect(group.container).toMatchObject({ hash: expect.stringMatching(/^sha256:/) })
    const [one, other] = await soon(async () => {
      const found = await list('first')
      expect(found).toMatchObject([{ ready: true }, { ready: true }])
      return found
    })
    const told = async (id?: string) => JSON.parse((await ask(group.id, id, '/')).body) as Record<string, string>
    const environment = await told(one?.id)
    expect(environment).toMatchObject({
      ...{ HOSTNAME: one?.id, INSTANCE_ID: one?.id, INSTANCE_MACHINE_ID: one?.machine_id, WORKLOAD_ID: group.id },
      ...{ WORKLOAD_NAME: 'first', WORKLOAD_PROJECT_NAME: 'demo', WORKLOAD_ORGANIZATION_NAME: group.organization_name },
    })
    const asked = async (uri: string, path: string) => ask(group.id, one?.id, `/?to=${encodeURIComponent(uri + path)}`)
    const own = environment.INSTANCE_METADATA_URI!
    expect(JSON.parse((await asked(own, '/v1/status')).body)).toEqual({ ready: true, started: true })
    const { jwt } = JSON.parse((await asked(sharedUri, '/v1/token')).body)
    expect(decodeJwt(jwt).machine_id).toBe(one?.machine_id)
    const others = (await told(other?.id)).INSTANCE_METADATA_URI!
    expect(JSON.parse((await asked(others, '/v1/token')).body)).toMatchObject({
      status: 404,
      code: 'container-not-found',
    })
  })

  it('restarts with its files, recreates without, and leaves nothing behind', async () => {
    const { settled, send, list, group: read, ask, body, containers } = await dockerBench(database(), await placeFor())
    const group = await settled(body({ readiness_probe: { ...quick, http: { path: '/', port: 3000 } } }))
    const again = async (action: string) => {
      const [before] = await list('first')
      if (action !== '') await send(`POST /first/instances/${before?.id}/${action}`)
      return soon(async () => {
        const [now] = await list('first')
        expect(now).toMatchObject({ ready: true, machine_id: before?.machine_id })
        expect(now?.id === before?.id).toBe(action === '')
        return (await ask(group.id, now?.id, '/starts')).body
      })
    }
    expect([await again(''), await again('restart'), await again('recreate')]).toEqual(['x', 'xx', 'x'])
    const [{ id } = {}] = await list('first')
    const { INSTANCE_METADATA_URI: uri } = JSON.parse((await ask(group.id, id, '/')).body)
    await send(`POST /first/instances/${id}/restart`)
    await soon(async () => {
      const [now] = await list('first')
      expect(now?.id).not.toBe(id)
      const to = encodeURIComponent(`${uri}/v1/status`)
      expect(await ask(group.id, now?.id, `/?to=${to}`)).toMatchObject({ status: 200 })
    })
    await send('PATCH /first', { replicas: 0 })
    await soon(async () => expect(await read('first')).toMatchObject({ pending_change: false }))
    expect(await containers()).toEqual([])
  })

  it('fails with the reason when there is no such image, and the group says so', async () => {
    const { settled, body } = await dockerBench(database(), await placeFor())
    const container = { image: 'localhost:1/nowhere:1', resources: { cpu: 1, memory: 1024 } }
    const { current_state } = await settled(body({ container }))
    const description = expect.stringMatching(/^The image localhost:1\/nowhere:1 cannot be pulled: ./)
    expect(current_state).toMatchObject({ status: 'failed', description })
  })
}
