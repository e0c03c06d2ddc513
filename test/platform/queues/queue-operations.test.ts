import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { queueSchema } from '../../../src/contracts/platform/queue.ts'
import { queueJobSchema } from '../../../src/contracts/platform/queue-job.ts'
import { BASE_URL, problemIn } from '../../support/management.ts'
import { platformDatabase } from '../../support/platform-database.ts'
import { bodyIn, platform, queueOf } from './bench.ts'

const database = platformDatabase()
const QUEUES = '/projects/demo/queues'
const MERGE = 'application/merge-patch+json'

describe('a queue', () => {
  it('is made, read, changed and listed', async () => {
    const bench = await platform(database(), { connectedGroups: async () => [{ name: 'group' }] })
    const made = await bench.send(`POST ${QUEUES}`, { name: 'images', description: 'prompts' })
    const queue = queueSchema.parse(await made.json())
    expect([made.status, made.headers.get('location')]).toEqual([
      201,
      `${BASE_URL}/api/public/organizations/${bench.tenant.organization.name}${QUEUES}/images`,
    ])
    expect(queue).toMatchObject({
      display_name: 'images',
      description: 'prompts',
      container_groups: [{ name: 'group' }],
    })
    expect(queue.create_time).toBe(queue.update_time)
    await bench.send(`POST ${QUEUES}/images/jobs`, { input: 1 })
    expect(await (await bench.send(`GET ${QUEUES}/images`)).json()).toEqual({ ...queue, current_queue_length: 1 })

    const change = { display_name: 'My Images', description: null }
    const changed = queueSchema.parse(await (await bench.send(`PATCH ${QUEUES}/images`, change, MERGE)).json())
    expect(changed).toMatchObject({ id: queue.id, display_name: 'My Images' })
    expect(changed).not.toHaveProperty('description')
    const reset = await bench.send(`PATCH ${QUEUES}/images`, { display_name: null }, MERGE)
    expect(await reset.json()).toMatchObject({ display_name: 'images' })

    await bench.send(`POST ${QUEUES}`, { name: 'other' })
    const { items } = await bodyIn(z.object({ items: z.array(queueSchema) }), await bench.send(`GET ${QUEUES}`))
    expect(items.map(({ name }) => name)).toEqual(['other', 'images'])
  })

  it.each([
    [{}, 'name'],
    [{ name: 'Images' }, 'name'],
    [{ name: 'i' }, 'name'],
    [{ name: 'images', display_name: 'a' }, 'display_name'],
    [{ name: 'images', description: 'x'.repeat(501) }, 'description'],
  ])('is not made of %j', async (body, member) => {
    const bench = await platform(database())
    const problem = await problemIn(await bench.send(`POST ${QUEUES}`, body))
    expect(problem).toMatchObject({ status: 400, detail: expect.stringMatching(`^${member}: `) })
  })

  it('has a name of its own in its project', async () => {
    const bench = await platform(database())
    await queueOf(bench)
    const problem = await problemIn(await bench.send(`POST ${QUEUES}`, { name: 'images' }))
    expect(problem).toMatchObject({ status: 400, type: `${BASE_URL}/e/name_conflict` })
  })

  it.each(['images', 'Not-A-Name', 'x'])('that is not there is not found: %s', async (name) => {
    const bench = await platform(database())
    const problem = await problemIn(await bench.send(`GET ${QUEUES}/${name}`))
    expect(problem).toMatchObject({ status: 404, detail: 'The queue could not be found.' })
  })
})

describe('a queue job', () => {
  it('is answered as the contract says', async () => {
    const bench = await platform(database())
    const queue = await queueOf(bench)
    const body = { input: { prompt: {} }, metadata: { a: 1 }, webhook: 'http://localhost:1/x' }
    const made = await bench.send(`POST ${queue.path}`, body)
    const job = queueJobSchema.parse(await made.json())
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(
      `${BASE_URL}/api/public/organizations/${bench.tenant.organization.name}${queue.path}/${job.id}`,
    )
    expect(job).toMatchObject({ ...body, status: 'pending', events: [{ action: 'created', time: job.create_time }] })
    expect(job.update_time).toBe(job.create_time)
    expect(await queue.read(job.id.toUpperCase())).toEqual(job)
    expect(await queue.list()).toEqual([job])
  })

  it.each([0, false, '', [], 'text'])('may have the input %j', async (input) => {
    const queue = await queueOf(await platform(database()))
    expect(await queue.submit(input, { metadata: null, webhook: null })).toMatchObject({ input })
  })

  it.each([
    [{}, 'input: is required'],
    [{ input: null }, 'input: is required'],
    [{ input: 1, metadata: [] }, 'metadata: must be an object'],
    [{ input: 1, webhook: 'ftp://a.example.com' }, 'webhook: must be an absolute http or https URL'],
    [{ input: 1, webhook: `https://a.example.com/${'x'.repeat(2048)}` }, 'webhook: must not be longer than 2048'],
    [
      { input: 1, metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`m${i}`, i])) },
      'metadata: must not have more than 20 properties',
    ],
  ])('is not made of %j', async (body, detail) => {
    const bench = await platform(database())
    const queue = await queueOf(bench)
    const problem = await problemIn(await bench.send(`POST ${queue.path}`, body))
    expect(problem).toMatchObject({ type: 'about:blank', status: 400, detail: expect.stringContaining(detail) })
  })

  it('of another queue is not there', async () => {
    const bench = await platform(database())
    const [one, other] = [await queueOf(bench, 'one'), await queueOf(bench, 'other')]
    const { id } = await one.submit(1)
    expect((await bench.send(`GET ${other.path}/${id}`)).status).toBe(404)
    expect((await bench.send(`DELETE ${other.path}/${id}`)).status).toBe(404)
    expect((await bench.send(`DELETE ${other.path}/nonsense`)).status).toBe(404)
  })
})
