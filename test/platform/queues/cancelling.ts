import type { ServerResponse } from 'node:http'
import { expect, it, vi } from 'vitest'
import type { Backend } from '../../support/backends.ts'
import { application, json, type Platform, type PlatformOptions, platform, queueOf, ready } from './bench.ts'

const webhook = 'https://hooks.example.com/done'

/** How jobs end before they are done, wherever they are kept (platform reference, sections 11 and 14.3). */
export function testCancelling({ database, redisUrl }: Backend): void {
  const start = async (options: PlatformOptions = {}) =>
    platform(database(), { redisUrl: await redisUrl(), ...options })

  const messages = async ({ tenant }: Platform) =>
    database()
      .db.selectFrom('webhook_messages')
      .selectAll()
      .where('organization_id', '=', tenant.organization.id)
      .orderBy('create_time')
      .execute()

  it('a pending job is cancelled and never handed out, and its webhook is noted once', async () => {
    const bench = await start()
    const queue = await queueOf(bench)
    const { id } = await queue.submit(1, { webhook })
    const answer = await bench.send(`DELETE ${queue.path}/${id}`)
    expect([answer.status, await answer.text()]).toEqual([202, ''])
    expect((await bench.send(`DELETE ${queue.path}/${id}`)).status).toBe(202)
    const job = await queue.read(id)
    expect(job).toMatchObject({ status: 'cancelled', events: [{ action: 'created' }, { action: 'cancelled' }] })

    const app = await application((_call, response) => json(response, 1))
    bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
    await queue.ended((await queue.submit(2)).id)
    expect(app.calls.map(({ input }) => input)).toEqual([2])

    const [message, ...more] = await messages(bench)
    expect(more).toEqual([])
    expect(message).toMatchObject({ id: expect.stringMatching(/^msg_[0-9A-Za-z]{22}$/), url: webhook, attempts: 0 })
    expect(JSON.parse(message!.body)).toEqual({ type: 'queue.job.canceled', timestamp: job.update_time, data: job })
  })

  it('a running job is cancelled at once, and what its worker makes of it is dropped', async () => {
    const bench = await start()
    const queue = await queueOf(bench)
    const answers: ServerResponse[] = []
    const app = await application((_call, response) => void answers.push(response))
    bench.queues.createWorker({ queueId: queue.id, ...app, status: ready })
    const { id } = await queue.submit(1, { webhook })
    const next = await queue.submit(2)
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    expect((await bench.send(`DELETE ${queue.path}/${id}`)).status).toBe(202)
    const cancelled = await queue.read(id)
    expect(cancelled.status).toBe('cancelled')
    json(answers[0]!, 'too late')
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    json(answers[1]!, 'done')
    expect(await queue.ended(next.id)).toMatchObject({ output: 'done' })
    expect(await queue.read(id)).toEqual(cancelled)
    expect(await messages(bench)).toHaveLength(1)
  })

  it('a deleted queue takes its jobs along, tells their webhooks and is dropped from groups', async () => {
    const { db } = database()
    const bench = await start()
    const queue = await queueOf(bench)
    const { id } = await queue.submit(1, { webhook })
    await queue.submit(2)
    const time = new Date(0)
    await db
      .insertInto('container_groups')
      .values({
        id: crypto.randomUUID(),
        project_id: bench.tenant.project.id,
        organization_id: bench.tenant.organization.id,
        name: 'group',
        definition: JSON.stringify({
          name: 'group',
          queue_connection: { queue_name: 'images', path: '/', port: 80 },
          queue_autoscaler: { desired_queue_length: 1, min_replicas: 0, max_replicas: 2 },
        }),
        queue_id: queue.id,
        status: 'running',
        create_time: time,
        update_time: time,
        start_time: time,
        finish_time: time,
      })
      .execute()
    expect((await bench.send('DELETE /projects/demo/queues/images')).status).toBe(202)
    expect((await bench.send('GET /projects/demo/queues/images')).status).toBe(404)
    expect((await bench.send(`GET ${queue.path}/${id}`)).status).toBe(404)
    expect((await bench.send(`POST ${queue.path}`, { input: 1 })).status).toBe(404)
    expect((await messages(bench)).map(({ body }) => JSON.parse(body).data.id)).toEqual([id])
    const group = await db
      .selectFrom('container_groups')
      .select(['queue_id', 'definition', 'update_time'])
      .where('project_id', '=', bench.tenant.project.id)
      .executeTakeFirstOrThrow()
    const { update_time, ...lost } = group
    expect(lost).toEqual({ queue_id: null, definition: { name: 'group' } })
    expect(update_time.getTime()).toBeGreaterThan(0)
  })

  it('a job that has ended is kept for its time', async () => {
    const began = Date.now()
    let late = 0
    const bench = await start({ now: () => began + late }) // it stands still, however long the test takes
    const queue = await queueOf(bench)
    const ended = await queue.submit(1)
    const open = await queue.submit(2)
    await bench.send(`DELETE ${queue.path}/${ended.id}`)
    late = 59_000
    expect((await bench.send(`GET ${queue.path}/${ended.id}`)).status).toBe(200)
    late = 61_000
    expect((await bench.send(`GET ${queue.path}/${ended.id}`)).status).toBe(404)
    expect((await bench.send(`DELETE ${queue.path}/${ended.id}`)).status).toBe(404)
    expect((await queue.list()).map(({ id }) => id)).toEqual([open.id])
  })
}
