import { describe, expect, it } from 'vitest'
import { containerGroupSchema } from '../../../src/contracts/platform/container-group.ts'
import { defaultGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { createdDefinition } from '../../../src/platform/management/group-definition.ts'
import { containerOf, groupBench, groupBody, networking } from '../../support/container-groups.ts'
import { problemIn } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const bench = (options = {}) => groupBench(database(), options)
const idle = { autostart_policy: false }
const http = { http: { path: '/', port: 3000 } }

const gpuClasses = new Set(defaultGpuClasses.map(({ id }) => id))

/** A create body with one member changed; undefined removes it. */
const changed = (path: string, value: unknown) => {
  const body: Record<string, unknown> = groupBody('first', { networking, ...idle })
  const members = path.split('.')
  const last = members.pop() as string // split() gives one at least
  let inner = body
  for (const member of members) {
    inner[member] = { ...(inner[member] as object) }
    inner = inner[member] as Record<string, unknown>
  }
  inner[last] = value
  return body
}

describe('a container group', () => {
  it('is answered with every default as it is created, and read the same', async () => {
    const { send, organization } = await bench()
    const response = await send('POST ', groupBody('first', { networking, readiness_probe: http }))
    const group = containerGroupSchema.parse(await response.json())
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(
      `https://api.example.com/api/public/organizations/${organization.name}/projects/demo/containers/first`,
    )
    expect(group).toMatchObject({
      ...{ name: 'first', display_name: 'first', version: 1, pending_change: true, priority: 'batch', replicas: 1 },
      ...{ country_codes: [], 'scheduled-scaling-enabled': false, 'scaling-actions': [] },
      current_state: {
        status: 'pending',
        description: '',
        start_time: group.create_time,
        finish_time: group.create_time,
      },
      container: { image_caching: false, environment_variables: {}, resources: { shm_size: 64, gpu_classes: [] } },
      networking: { load_balancer: 'round_robin', client_request_timeout: 100_000, single_connection_limit: false },
      readiness_probe: { failure_threshold: 3, period_seconds: 1, http: { scheme: 'http', headers: [] } },
    })
    expect(group.networking?.dns).toMatch(/^first-[a-z0-9]{8}\.localhost$/)
  })

  it('never shows the keys to its registry, and shows its priority only with a GPU', async () => {
    const { send } = await bench()
    const [gpu] = defaultGpuClasses
    const more = { priority: 'low', registry_authentication: { basic: { username: 'u', password: 'secret' } } }
    const resources = { cpu: 1, memory: 1024, gpu_classes: [gpu?.id.toUpperCase()] }
    const text = await (
      await send('POST ', groupBody('first', { ...idle, container: containerOf(['true'], { ...more, resources }) }))
    ).text()
    expect(text).not.toContain('secret')
    expect(JSON.parse(text)).toMatchObject({ priority: 'low', container: { resources: { gpu_classes: [gpu?.id] } } })
  })

  it.each([
    ['name', 'X', 'name: '],
    ['name', undefined, 'name: '],
    ['display_name', 'a', 'display_name: '],
    ['display_name', 'under_score', 'display_name: '],
    ['restart_policy', 'sometimes', 'restart_policy: must be one of'],
    ['autostart_policy', null, 'autostart_policy: is required'],
    ['replicas', 501, 'replicas: must be an integer from 0 to 500'],
    ['replicas', 1.5, 'replicas: must be an integer from 0 to 500'],
    ['readme', 'x', 'readme: '],
    ['country_codes', ['xx'], 'country_codes.0: must be a lower-case country code'],
    ['container.image', '', 'container.image: '],
    ['container.command', Array(101).fill('x'), 'container.command: '],
    ['container.resources.cpu', 0, 'container.resources.cpu: must be an integer from 1 to 1024'],
    ['container.resources.memory', 1023, 'container.resources.memory: '],
    ['container.resources.shm_size', 63, 'container.resources.shm_size: '],
    ['container.resources.storage_amount', 1_073_741_823, 'container.resources.storage_amount: '],
    ['container.resources.gpu_classes', [crypto.randomUUID()], 'gpu_classes.0: must be a known GPU class'],
    ['container.environment_variables', { NAME: '' }, 'container.environment_variables.NAME: '],
    ['container.environment_variables', { NAME: 1 }, 'container.environment_variables.NAME: '],
    ['container.logging', { tcp: { host: 'h', port: 0 } }, 'container.logging.tcp.port: '],
    [
      'container.logging',
      { tcp: { host: 'h', port: 1 }, splunk: { host: 'h', token: 't' } },
      'at most one destination',
    ],
    ['container.registry_authentication', {}, 'exactly one kind of registry'],
    ['networking.port', 65_536, 'networking.port: '],
    ['networking.protocol', 'tcp', 'networking.protocol: '],
    ['networking.client_request_timeout', 100_001, 'networking.client_request_timeout: '],
    ['liveness_probe', {}, 'liveness_probe: must have exactly one of exec, grpc, http, tcp'],
    ['liveness_probe', { ...http, tcp: { port: 1 } }, 'exactly one of'],
    ['startup_probe', { ...http, period_seconds: 0 }, 'startup_probe.period_seconds: '],
    ['readiness_probe', { exec: { command: [] } }, 'readiness_probe.exec.command: '],
    ['readiness_probe', { tcp: { port: 65_536 } }, 'readiness_probe.tcp.port: '],
    ['queue_autoscaler', { desired_queue_length: 1, min_replicas: 0, max_replicas: 1 }, 'needs a queue_connection'],
    ['queue_connection', { path: '', port: 1, queue_name: 'none' }, 'queue_connection.path: '],
    ['scaling-actions', [{ replicas: 1, schedule: '* * * *' }], 'scaling-actions.0.schedule: '],
    ['scaling-actions', [{ replicas: 1, schedule: '61 * * * *' }], 'scaling-actions.0.schedule: '],
  ])('is refused when %s is %j', (path, value, reason) => {
    expect(() => createdDefinition(changed(path, value), gpuClasses)).toThrow(reason)
  })

  it('is refused with every fault at once, and when its queue is unknown', async () => {
    const { send } = await bench()
    const refusal = async (body: unknown) => {
      const response = await send('POST ', body)
      return [response.status, (await problemIn(response)).detail]
    }
    const faults = 'restart_policy: is required; replicas: is required; name: is required; container: is required'
    expect(await refusal({ autostart_policy: true })).toEqual([400, faults])
    const queue_connection = { path: '/', port: 1, queue_name: 'none' }
    const unknown = 'queue_connection.queue_name: must be a queue of the project'
    expect(await refusal(groupBody('first', { queue_connection }))).toEqual([400, unknown])
  })

  it.each([
    ['replicas', 500],
    ['liveness_probe', { http: { path: '/', port: 65_536 } }],
    ['liveness_probe', { grpc: { port: 0 } }],
    ['readme', null],
    ['container.resources.cpu', 1024],
    ['scaling-actions', [{ replicas: 1, schedule: '*/5 0-6 1,15 jan mon-fri' }]],
    ['unknown', 1],
  ])('is accepted when %s is %j', (path, value) => {
    expect(createdDefinition(changed(path, value), gpuClasses)).toMatchObject({ name: 'first' })
  })

  it('keeps its name to itself until it is deleted', async () => {
    const { send, settled } = await bench()
    await settled(groupBody('first', idle))
    const again = await send('POST ', groupBody('first', idle))
    expect([again.status, (await problemIn(again)).type]).toEqual([400, 'https://api.example.com/e/name_conflict'])
    expect((await send('DELETE /first')).status).toBe(202)
    expect((await send('GET /first')).status).toBe(404)
    expect((await send('POST ', groupBody('first', idle))).status).toBe(201)
  })

  it('counts against the quota, also while it is stopped', async () => {
    const { send, settled } = await bench({ replicaQuota: 3 })
    await settled(groupBody('first', { ...idle, replicas: 2 }))
    const second = await send('POST ', groupBody('second', { ...idle, replicas: 2 }))
    expect([second.status, (await problemIn(second)).type]).toEqual([403, 'https://api.example.com/e/quota_exceeded'])
    expect((await send('GET /second')).status).toBe(404)
    expect((await send('PATCH /first', { replicas: 4 })).status).toBe(403)
    expect((await send('PATCH /first', { replicas: 3 })).status).toBe(200)
  })

  it('is listed newest first, in pages', async () => {
    const { send, settled } = await bench()
    for (const name of ['first', 'second', 'third']) await settled(groupBody(name, idle))
    const { items } = (await (await send('GET ?page_size=2')).json()) as { items: { name: string }[] }
    expect(items.map(({ name }) => name)).toEqual(['third', 'second'])
    expect((await send('GET ?page=0')).status).toBe(400)
  })

  it('cannot be started or stopped while it is pending', async () => {
    const { send } = await bench({ deps: { launcher: slow } })
    await send('POST ', groupBody('first'))
    for (const line of ['POST /first/start', 'POST /first/stop']) expect((await send(line)).status).toBe(400)
    expect((await send('PATCH /first', { replicas: 2 })).status).toBe(400)
  })
})

/** Never gets an image ready. */
const slow = {
  prepare: () => new Promise<never>(() => undefined),
  start: () => Promise.reject(new Error('nothing is ready')),
  leave: async () => undefined,
  sweep: async () => undefined,
}

describe('a patch of a container group', () => {
  const environment_variables = { KEPT: 'yes', OLD: 'yes' }
  const body = groupBody('first', {
    ...{ ...idle, networking, readiness_probe: http, display_name: 'The first' },
    container: containerOf(['true'], { environment_variables }),
  })

  it('merges, and null removes or resets', async () => {
    const { send, settled } = await bench()
    const before = await settled(body)
    const patch = {
      ...{ readiness_probe: null, display_name: null, replicas: null, name: 'first', id: 'ignored' },
      container: { environment_variables: { OLD: null, NEW: 'yes' }, image: null },
    }
    const response = await send('PATCH /first', patch)
    const after = containerGroupSchema.parse(await response.json())
    expect(after).toMatchObject({ id: before.id, display_name: 'first', replicas: 1, version: 2, pending_change: true })
    expect(after.container).toMatchObject({
      image: before.container.image,
      environment_variables: { KEPT: 'yes', NEW: 'yes' },
    })
    expect(after.readiness_probe).toBeUndefined()
  })

  it.each([
    [{ name: 'other' }, 'name'],
    [{ autostart_policy: true }, 'autostart_policy'],
    [{ restart_policy: 'never' }, 'restart_policy'],
    [{ networking: { auth: true } }, 'networking.auth'],
    [{ networking: { load_balancer: 'least_number_of_connections' } }, 'networking.load_balancer'],
  ])('cannot change what is fixed: %j', async (patch, member) => {
    const { send, settled } = await bench()
    await settled(body)
    const response = await send('PATCH /first', patch)
    expect(response.status).toBe(400)
    expect((await problemIn(response)).detail).toBe(`${member}: cannot be changed after creation`)
  })

  it.each([
    [{ replicas: 2, readme: 'words', display_name: 'Other', country_codes: ['de'] }, 1],
    [{ container: { resources: { cpu: 2 }, priority: 'low', image_caching: true } }, 1],
    [{ networking: { port: 3001 } }, 2],
    [{ container: { command: ['false'] } }, 2],
    [{ liveness_probe: { tcp: { port: 1 } } }, 2],
    [{ container: { image: 'other:1' } }, 2],
  ])('raises the version only when instances must be replaced: %j', async (patch, version) => {
    const { send, settled } = await bench()
    await settled(body)
    expect(await (await send('PATCH /first', patch)).json()).toMatchObject({ version, pending_change: true })
  })

  it('that changes nothing leaves the group as it is', async () => {
    const { send, settled } = await bench()
    const before = await settled(body)
    expect(await (await send('PATCH /first', { replicas: 1, networking })).json()).toEqual(before)
  })

  it('must be a merge patch', async () => {
    const { send, settled } = await bench()
    await settled(body)
    expect((await send('PATCH /first', ['replicas'])).status).toBe(400)
    expect((await send('POST /first', { replicas: 2 })).status).toBe(405)
  })
})
