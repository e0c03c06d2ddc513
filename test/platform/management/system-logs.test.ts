import { describe, expect, it } from 'vitest'
import { systemLogListSchema } from '../../../src/contracts/platform/system-log.ts'
import { logEvent } from '../../../src/platform/base/events.ts'
import { defaultGpuClasses } from '../../../src/platform/management/gpu-catalogue.ts'
import { application, containerOf, groupBench, groupBody, soon } from '../../support/container-groups.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const readiness_probe = { http: { path: '/', port: 3000 }, period_seconds: 1 }

async function bench() {
  const made = await groupBench(database())
  return {
    ...made,
    async logs(name: string) {
      const response = await made.send(`GET /${name}/system-logs`)
      expect(response.status).toBe(200)
      return systemLogListSchema.parse(await response.json()).items
    },
  }
}

describe('system logs', () => {
  it('tell the life of a group and its instance, newest first, with what it asked for at the time', async () => {
    const { send, settled, logs, list } = await bench()
    const [gpu, second] = defaultGpuClasses
    const gpu_classes = [gpu!.id, second!.id]
    const container = (cpu: number) =>
      containerOf(application, { resources: { cpu, memory: 2048, storage_amount: 2 ** 30, gpu_classes } })
    await settled(groupBody('first', { readiness_probe, container: container(1) }))
    const told = (count: number) => soon(async () => expect(await logs('first')).toHaveLength(count))
    await told(6)
    const [instance] = await list('first')
    await send('PATCH /first', { container: { resources: { cpu: 2, gpu_classes: [] } }, replicas: 2 })
    await told(12)

    const items = (await logs('first')).toReversed()
    const resources = { resource_memory: 2048, resource_storage_amount: 2 ** 30, version: '1' }
    const before = { ...resources, resource_cpu: 1, resource_gpu_class: `${gpu!.name}, ${second!.name}` }
    const after = { ...resources, resource_cpu: 2, resource_gpu_class: '' }
    const ids = { instance_id: instance!.id, machine_id: instance!.machine_id }
    const event = (event_name: string, more: object) => ({ event_name, event_time: expect.any(String), ...more })
    expect(items.slice(0, 7)).toEqual([
      event('Container Group Started', before),
      ...['Allocated', 'Creating', 'Starting', 'Running', 'Ready (Readiness Probe Passed)'].map((name) =>
        event(`Instance ${name}`, { ...before, ...ids }),
      ),
      event('Container Group Desired Replica Count Updated from 1 to 2', after),
    ])
    expect(items.slice(7).map(({ event_name }) => event_name)).toEqual(
      ['Allocated', 'Creating', 'Starting', 'Running', 'Ready (Readiness Probe Passed)'].map((n) => `Instance ${n}`),
    )
  })

  it('are the newest 50, of this group alone and of none before it that had its name', async () => {
    const { send, logs, organization, group } = await bench()
    const labels = { project_name: 'demo', container_group_name: 'first', container_group_version: '3' }
    const write = (name: string, time: number, more = {}) =>
      logEvent(database().db, {
        ...{ organizationId: organization.id, type: 'deployment_controller', name, time },
        labels: { ...labels, ...more },
      })
    await write('of an earlier group', Date.now() - 1)
    await send('POST ', groupBody('first', { autostart_policy: false }))
    await soon(async () => expect((await group('first')).current_state.status).toBe('stopped'))
    const start = Date.now() + 1000
    await write('of a project beside', start, { project_name: 'other' })
    await write('of a group beside', start, { container_group_name: 'second' })
    for (let i = 0; i < 51; i++) await write(`event ${i}`, start + i)
    const items = await logs('first')
    expect(items.map(({ event_name }) => event_name)).toEqual(Array.from({ length: 50 }, (_, i) => `event ${50 - i}`))
    expect(items[0]).toMatchObject({ resource_cpu: 1, resource_memory: 1024, version: '3' })
    expect((await send('GET /none/system-logs')).status).toBe(404)
  })
})
