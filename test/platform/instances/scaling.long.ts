import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { AutoscaledGroup } from '../../../src/platform/instances/context.ts'
import { parseCron } from '../../../src/platform/instances/cron.ts'
import { type BenchOptions, containerOf, groupBench, groupBody, soon } from '../../support/container-groups.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const bench = (options: BenchOptions = {}) => groupBench(database(), options)
const container = containerOf([process.execPath, '-e', 'setInterval(() => undefined, 1000)'])

describe('a cron schedule', () => {
  it.each([
    ['* * * * *', '2025-01-01T00:00:00Z', true],
    ['30 8 * * *', '2025-01-01T08:30:59Z', true],
    ['30 8 * * *', '2025-01-01T08:31:00Z', false],
    ['*/15 0-6 * * *', '2025-01-01T06:45:00Z', true],
    ['*/15 0-6 * * *', '2025-01-01T07:00:00Z', false],
    ['5/20 * * * *', '2025-01-01T07:45:00Z', true],
    ['0 0 * JAN wed', '2025-01-01T00:00:00Z', true],
    ['0 0 * jan mon,tue', '2025-01-01T00:00:00Z', false],
    ['0 0 * * 7', '2025-01-05T00:00:00Z', true],
    ['0 0 13 * fri', '2025-01-03T00:00:00Z', true],
    ['0 0 13 * fri', '2025-01-13T00:00:00Z', true],
    ['0 0 13 * fri', '2025-01-14T00:00:00Z', false],
  ])('%s at %s: %s', (schedule, time, expected) => {
    expect(parseCron(schedule)?.(Date.parse(time))).toBe(expected)
  })

  it.each([
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    'a * * * *',
    '* * * *',
  ])('is none: %s', (schedule) => expect(parseCron(schedule)).toBeUndefined())
})

describe('the replicas of a group', () => {
  it('follow its schedule, the last action of a minute, as far as the quota allows', async () => {
    const { send, settled, group, list, events } = await bench({ settings: { replicaQuota: 2 } })
    const actions = [2, 3].map((replicas) => ({ replicas, schedule: '* * * * *' }))
    await settled(groupBody('first', { container, 'scaling-actions': actions }))
    expect(await list('first')).toHaveLength(1)
    await send('PATCH /first', { 'scheduled-scaling-enabled': true })
    await soon(async () =>
      expect(await group('first')).toMatchObject({ replicas: 2, version: 1, pending_change: false }),
    )
    expect(await events()).toContain('Container Group Desired Replica Count Updated from 1 to 2')
  })

  it('follow its queue, and the answers of the last minute are told', async () => {
    const asked: AutoscaledGroup[] = []
    const desiredReplicas = async (group: AutoscaledGroup) => {
      asked.push(group)
      return asked.length === 1 ? 0 : 2
    }
    const { send, group, project } = await bench({ settings: { autoscalerMs: 200 }, deps: { desiredReplicas } })
    const { db } = database()
    const time = new Date()
    const queue = {
      id: randomUUID(),
      project_id: project.id,
      name: 'prompts',
      display_name: 'prompts',
      description: null,
    }
    await db
      .insertInto('queues')
      .values({ ...queue, create_time: time, update_time: time })
      .execute()
    const queue_autoscaler = { desired_queue_length: 1, min_replicas: 0, max_replicas: 3 }
    const queue_connection = { path: '/prompt', port: 3000, queue_name: 'prompts' }
    await send('POST ', groupBody('first', { container, queue_autoscaler, queue_connection }))
    await soon(async () => expect(await group('first')).toMatchObject({ replicas: 2, version: 1 }))
    expect(asked.slice(0, 2)).toMatchObject([
      { queueId: queue.id, replicas: 1, added: 0, removed: 0, autoscaler: queue_autoscaler },
      { replicas: 0, added: 0, removed: 1 },
    ])
  })
})
