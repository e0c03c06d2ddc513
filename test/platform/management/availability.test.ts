import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cpuAvailabilitySchema, gpuAvailabilitySchema } from '../../../src/contracts/platform/availability.ts'
import { createNodes } from '../../../src/platform/instances/nodes.ts'
import { createAvailabilityRoutes } from '../../../src/platform/management/availability-routes.ts'
import { defaultGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { problemIn, serveManagement } from '../../support/management.ts'
import { platformDatabase, type Tenant } from '../../support/platform-database.ts'
import { twoTenants } from '../../support/tenants.ts'

const database = platformDatabase()
const tenants = twoTenants(database)

const NODES = 10
const gpu = defaultGpuClasses[0]!.id

async function member({ organization, key }: Tenant) {
  const { db } = database()
  const gpuClasses = new Set(defaultGpuClasses.map(({ id }) => id))
  const routes = createAvailabilityRoutes({ db, now: Date.now, nodes: createNodes(NODES), gpuClasses })
  const ask = await serveManagement({ db, routes: { organization: [routes] } })
  return (kind: 'cpu' | 'gpu', body: unknown) =>
    ask(`POST /organizations/${organization.name}/availability/${kind}`, {
      headers: { 'service-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
}

/** Places instances of a group of tenants.acme on the first nodes, and leaves one without a node. */
async function place(count: number): Promise<void> {
  const { db } = database()
  const times = { create_time: new Date(), update_time: new Date() }
  const { cpu, memory, storage_amount } = { cpu: 1, memory: 1024, storage_amount: 1 }
  const group = {
    id: randomUUID(),
    project_id: tenants.acme.project.id,
    organization_id: tenants.acme.organization.id,
    name: 'first',
    definition: '{}',
    status: 'running' as const,
    ...{ ...times, start_time: new Date(), finish_time: new Date() },
  }
  await db.insertInto('container_groups').values(group).execute()
  const nodes = createNodes(NODES)
  const taken = new Set<string>()
  for (let i = 0; i < count; i++) taken.add(nodes.find({ cpu, memory, storage_amount }, taken)!)
  const instance = (machine_id: string, state: 'running' | 'allocating') => ({
    ...{ id: randomUUID(), group_id: group.id, machine_id, state, version: 1, ...times },
  })
  const rows = [...[...taken].map((id) => instance(id, 'running')), instance(randomUUID(), 'allocating')]
  await db.insertInto('instances').values(rows).execute()
  const [left] = [...taken].slice(-1)
  await db
    .insertInto('node_exclusions')
    .values([
      {
        organization_id: tenants.other.organization.id,
        machine_id: nodes.find({ cpu, memory, storage_amount }, taken)!,
        until: new Date(Date.now() + 60_000),
        reason: 'it was slow',
      },
      { organization_id: tenants.other.organization.id, machine_id: left!, until: new Date(0), reason: 'long ago' },
    ])
    .execute()
}

describe('availability', () => {
  it('counts the nodes that hold no instance and that the organization does not stay away from', async () => {
    const [hers, his] = [await member(tenants.acme), await member(tenants.other)]
    const none = await (await hers('cpu', {})).json()
    expect(cpuAvailabilitySchema.parse(none)).toEqual({ available_cpu_batch: NODES, on_call_cpu: NODES })
    await place(3)
    const some = await (await hers('cpu', { country_codes: ['de', 'fr'], cpu: 16, memory: 61_440 })).json()
    expect(some).toEqual({ available_cpu_batch: 7, on_call_cpu: 10 })
    const ofGpu = await (await his('gpu', { gpu_classes: [gpu.toUpperCase()] })).json()
    expect(gpuAvailabilitySchema.parse(ofGpu)).toEqual({
      available_gpu_high: 6,
      available_gpu_medium: 6,
      available_gpu_low: 6,
      available_gpu_batch: 6,
      on_call_gpu: 10,
    })
  })

  it.each([{ cpu: 17 }, { memory: 61_441, cpu: null }, { storage_amount: 268_435_456_001, country_codes: null }])(
    'is none where no node has so much: %j',
    async (body) => {
      const answer = await (await member(tenants.acme))('cpu', body)
      expect(await answer.json()).toEqual({ available_cpu_batch: 0, on_call_cpu: 0 })
    },
  )

  it.each([
    ['cpu', { cpu: 0 }, 'cpu: must be an integer from 1 to 1024'],
    ['cpu', { memory: 1023 }, 'memory: must be an integer from 1024 to 1073741824'],
    ['cpu', { storage_amount: 1.5 }, 'storage_amount: must be an integer from 1073741824 to 1125899906842624'],
    ['cpu', { country_codes: ['de', 'xx'] }, 'country_codes.1: must be a lower-case country code'],
    ['cpu', [], 'body: must be an object'],
    ['gpu', {}, 'gpu_classes: is required'],
    ['gpu', { gpu_classes: [] }, 'gpu_classes: must be a list of 1 to 100 items'],
    ['gpu', { gpu_classes: ['best'] }, 'gpu_classes.0: must be a UUID'],
    ['gpu', { gpu_classes: [gpu, randomUUID()] }, 'gpu_classes.1: must be a known GPU class'],
  ] as const)('of %s is refused for %j', async (kind, body, detail) => {
    expect(await problemIn(await (await member(tenants.acme))(kind, body))).toMatchObject({ status: 400, detail })
  })
})
