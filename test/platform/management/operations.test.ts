import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { gpuClassListSchema } from '../../../src/contracts/platform/gpu-class.ts'
import { quotasSchema, webhookSecretSchema } from '../../../src/contracts/platform/quotas.ts'
import { defaultGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { createGpuClassesRoutes } from '../../../src/platform/management/gpu-classes-routes.ts'
import { createQuotasRoutes } from '../../../src/platform/management/quotas-routes.ts'
import { createWebhookSecretRoutes } from '../../../src/platform/management/webhook-secret-routes.ts'
import { problemIn, serveManagement } from '../../support/management.ts'
import { addTenant, platformDatabase, type Tenant } from '../../support/platform-database.ts'

const database = platformDatabase()
const quotas = { replicaQuota: 10, restartsPerMinute: 11, recreatesPerMinute: 12, reallocationsPerMinute: 13 }
let acme: Tenant

beforeAll(async () => {
  acme = await addTenant(database().db, 'acme')
})

/** Asks for an operation of acme as its member. */
async function member() {
  const { db } = database()
  const organization = [
    createGpuClassesRoutes(defaultGpuClasses),
    createQuotasRoutes(db, quotas),
    createWebhookSecretRoutes(db),
  ]
  const ask = await serveManagement({ db, routes: { organization } })
  return (method: string, path: string) =>
    ask(`${method} /organizations/acme${path}`, { headers: { 'service-api-key': acme.key } })
}

describe('GPU classes', () => {
  it('are listed by name', async () => {
    const response = await (await member())('GET', '/gpu-classes')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    const body = await response.json()
    expect(gpuClassListSchema.strict().parse(body)).toEqual(body)
    expect(body).toMatchObject({
      items: [
        { name: 'RTX 3060 (12 GB)', prices: [{ price: '0.08', priority: 'high' }, {}, {}, { price: '0.04' }] },
        { name: 'RTX 3090 (24 GB)', is_high_demand: false },
        { name: 'RTX 3090 Ti (24 GB)' },
        { name: 'RTX 4090 (24 GB)', id: 'd00a0ef2-a7ca-4e73-a975-edbd8bf54ded', is_high_demand: true },
      ],
    })
  })

  it.each([
    ['the second page', '?page=2&page_size=3', ['RTX 4090 (24 GB)']],
    ['nothing past the end', '?page=2147483647', []],
    ['a page of the most', '?page_size=100&unknown=1', expect.objectContaining({ length: 4 })],
  ])('answer with %s', async (_what, query, names) => {
    const response = await (await member())('GET', `/gpu-classes${query}`)
    const { items } = gpuClassListSchema.parse(await response.json())
    expect(items.map(({ name }) => name)).toEqual(names)
  })

  it.each([
    ['page=0', 'query.page: must be at least 1'],
    ['page=2147483648', 'query.page: must be at most 2147483647'],
    ['page=1.5', 'query.page: must be an integer'],
    ['page=', 'query.page: must be an integer'],
    ['page=1&page=2', 'query.page: must be given once'],
    ['page=-1&page_size=101', 'query.page: must be at least 1; query.page_size: must be at most 100'],
  ])('refuse ?%s', async (query, detail) => {
    const problem = await problemIn(await (await member())('GET', `/gpu-classes?${query}`))
    expect(problem).toMatchObject({ status: 400, title: 'Bad Request', detail: detail.replaceAll('query.', '') })
    expect(problem.type).toMatch(/\/e\/bad-request$/)
  })
})

describe('quotas', () => {
  it('count the replicas that groups may come to, stopped ones too and deleted ones not', async () => {
    const { db } = database()
    const group = (definition: object, deleted = false) => ({
      id: randomUUID(),
      project_id: acme.project.id,
      organization_id: acme.organization.id,
      name: `g-${randomUUID().slice(0, 8)}`,
      definition: JSON.stringify(definition),
      status: 'stopped' as const,
      ...{ create_time: new Date(), update_time: new Date(), start_time: new Date(), finish_time: new Date() },
      deleted,
    })
    const ask = await member()
    const empty = await (await ask('GET', '/quotas')).json()
    expect(quotasSchema.strict().parse(empty).container_groups_quotas).toEqual({
      container_replicas_quota: 10,
      container_replicas_used: 0,
      max_container_group_restarts_per_minute: 11,
      max_container_group_recreates_per_minute: 12,
      max_container_group_reallocations_per_minute: 13,
    })
    await db
      .insertInto('container_groups')
      .values([
        group({ replicas: 2 }),
        group({ replicas: 1, queue_autoscaler: { max_replicas: 5 } }),
        group({ replicas: 3 }, true),
      ])
      .execute()
    const { container_groups_quotas } = quotasSchema.parse(await (await ask('GET', '/quotas')).json())
    expect(container_groups_quotas.container_replicas_used).toBe(7)
  })
})

describe('the webhook secret', () => {
  it('is made at the first read, stays, and is replaced when asked', async () => {
    const ask = await member()
    const read = async (method: string) => {
      const response = await ask(method, '/webhook-secret-key')
      expect(response.status).toBe(200)
      return webhookSecretSchema.strict().parse(await response.json()).secret_key
    }
    const first = await read('GET')
    expect(await read('GET')).toBe(first)
    const second = await read('POST')
    expect(second).not.toBe(first)
    expect(await read('GET')).toBe(second)
  })

  it('is one, however many read it first at the same moment', async () => {
    await database().db.updateTable('organizations').set({ webhook_secret: null }).execute()
    const ask = await member()
    const secrets = await Promise.all([1, 2, 3, 4].map(async () => (await ask('GET', '/webhook-secret-key')).text()))
    expect(new Set(secrets).size).toBe(1)
  })
})
