import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { containerInstanceSchema } from '../../../src/contracts/platform/container-instance.ts'
import {
  application,
  type BenchOptions,
  containerOf,
  groupBench,
  groupBody,
  soon,
} from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const bench = (options: BenchOptions = {}) => groupBench(database(), options)

/** Runs a line of JavaScript. */
const script = (line: string) => containerOf([process.execPath, '-e', line])
const forEver = 'setInterval(() => undefined, 1000)'
const quick = { period_seconds: 1, initial_delay_seconds: 0, success_threshold: 1, failure_threshold: 1 }
const probed = (path: string) => ({ ...quick, timeout_seconds: 5, http: { path, port: 3000 } })

describe('the instances of a group', () => {
  it('run its command, each with who it is and a port of its own', async () => {
    const { settled, list, instances, organization, project } = await bench()
    const container = containerOf(application, { environment_variables: { MINE: 'yes', WORKLOAD_NAME: 'forged' } })
    const group = await settled(groupBody('first', { replicas: 2, container, readiness_probe: probed('/') }))
    expect(group.current_state).toMatchObject({ status: 'running', instance_status_counts: { running_count: 2 } })
    await soon(async () => expect(instances().targetsOf(group.id)).toHaveLength(2))
    for (const { instanceId, host, port } of instances().targetsOf(group.id)) {
      const environment = await (await fetch(`http://${host}:${port}/`)).json()
      const instance = (await list('first')).find(({ id }) => id === instanceId)
      expect(containerInstanceSchema.parse(instance)).toMatchObject({ state: 'running', ready: true, started: true })
      expect(environment).toMatchObject({
        ...{ MINE: 'yes', HOSTNAME: instanceId, INSTANCE_ID: instanceId, INSTANCE_MACHINE_ID: instance?.machine_id },
        ...{ INSTANCE_METADATA_URI: `http://127.0.0.1:9/${instanceId}`, WORKLOAD_ID: group.id, WORKLOAD_NAME: 'first' },
        ...{ WORKLOAD_PROJECT_ID: project.id, WORKLOAD_ORGANIZATION_NAME: organization.name },
      })
    }
  })

  it('come and go with replicas, the lowest deletion cost first', async () => {
    const { send, settled, list, group } = await bench()
    const container = script(forEver)
    await settled(groupBody('first', { replicas: 3, container }))
    const [first, second, third] = await list('first')
    for (const [instance, deletion_cost] of [
      [first, 7],
      [second, 2],
      [third, 5],
    ] as const)
      await send(`PATCH /first/instances/${instance?.id}`, { deletion_cost })
    await send('PATCH /first', { replicas: 2 })
    await soon(async () => expect((await list('first')).map(({ id }) => id)).toEqual([first?.id, third?.id]))
    await send('PATCH /first', { replicas: 3 })
    await soon(async () => expect(await group('first')).toMatchObject({ version: 1, pending_change: false }))
    expect(await list('first')).toHaveLength(3)
  })

  it('end with the group, and it starts again with new ones', async () => {
    const { send, settled, list, group, events } = await bench()
    const { current_state: before } = await settled(groupBody('first', { container: script(forEver) }))
    const [old] = await list('first')
    expect((await send('POST /first/stop')).status).toBe(202)
    await soon(async () => expect(await list('first')).toEqual([]))
    await soon(async () => expect(await group('first')).toMatchObject({ pending_change: false }))
    const { current_state: stopped } = await group('first')
    expect(stopped).toMatchObject({ status: 'stopped', start_time: before.start_time })
    expect(stopped.finish_time > stopped.start_time).toBe(true)
    await send('POST /first/start')
    await soon(async () => expect((await group('first')).current_state.status).toBe('running'))
    expect((await list('first'))[0]?.id).not.toBe(old?.id)
    expect(await events()).toEqual(
      expect.arrayContaining([
        'Container Group Started',
        'Instance Allocated',
        'Instance Running',
        'Container Group Stopped',
      ]),
    )
  })

  it('are killed when they do not end within the grace period', async () => {
    const { send, settled, list } = await bench({ settings: { graceMs: 100 } })
    await settled(groupBody('first', { container: script(`process.on('SIGTERM', () => undefined); ${forEver}`) }))
    await send('DELETE /first')
    await soon(async () => expect((await send('GET /first/instances')).status).toBe(404))
    const left = () => database().db.selectFrom('container_groups').select('id').execute()
    await soon(async () => expect(await left()).toEqual([]))
    expect(await list('first')).toBeUndefined()
  })

  it('are replaced on their nodes by a new version', async () => {
    const { send, settled, list, group } = await bench()
    await settled(groupBody('first', { container: script(forEver) }))
    const [before] = await list('first')
    await send('PATCH /first', { container: { environment_variables: { NEW: 'yes' } } })
    await soon(async () => expect(await group('first')).toMatchObject({ version: 2, pending_change: false }))
    const [after] = await list('first')
    expect(after).toMatchObject({ machine_id: before?.machine_id, version: 2, state: 'running' })
    expect(after?.id).not.toBe(before?.id)
  })

  it('wait where no node has so much', async () => {
    const { send, list } = await bench()
    const container = { ...script(forEver), resources: { cpu: 1024, memory: 1024 } }
    await send('POST ', groupBody('first', { container }))
    await soon(async () => expect(await list('first')).toMatchObject([{ state: 'allocating' }]))
  })

  it('cannot start without a command, and the group says so', async () => {
    const { send, settled } = await bench()
    const { current_state } = await settled(groupBody('first', { container: containerOf([]) }))
    expect(current_state).toMatchObject({ status: 'failed', description: expect.stringContaining('cannot be pulled') })
    expect((await send('POST /first/start')).status).toBe(202)
    const known = await settled(groupBody('second', { container: containerOf([], { image: 'demo:1' }) }))
    expect(known.current_state.status).toBe('running')
  })
})

describe('an instance that ends by itself', () => {
  it.each([
    ['never', 0, 'succeeded', ''],
    ['never', 3, 'stopped', 'An instance exited with code 3.'],
    ['on_failure', 0, 'succeeded', ''],
  ])('is not replaced with %s and code %i: %s', async (restart_policy, code, status, description) => {
    const { send, group, list } = await bench()
    await send('POST ', groupBody('first', { restart_policy, replicas: 2, container: script(`process.exit(${code})`) }))
    await soon(async () => expect((await group('first')).current_state).toMatchObject({ status, description }))
    expect(await list('first')).toEqual([])
  })

  it('starts again on its node with its folder, and elsewhere after three failures', async () => {
    const { settled, events } = await bench()
    const log = join(await emptyFolder(), 'starts')
    // Fails three times and no more, wherever it is; each start tells its node and how many there were in its folder.
    const line = `const { appendFileSync, readFileSync } = require('node:fs'); appendFileSync('own', 'x')
      appendFileSync(process.env.LOG, process.env.INSTANCE_MACHINE_ID + ' ' + readFileSync('own', 'utf8').length + '\\n')
      if (readFileSync(process.env.LOG, 'utf8').trim().split('\\n').length < 4) process.exit(1); ${forEver}`
    const container = { ...script(line), environment_variables: { LOG: log } }
    await settled(groupBody('first', { restart_policy: 'on_failure', container }))
    await soon(async () => expect((await readFile(log, 'utf8')).trim().split('\n')).toHaveLength(4))
    const starts = (await readFile(log, 'utf8')).trim().split('\n')
    const [node = ''] = starts[0]?.split(' ') ?? []
    const [other] = starts[3]?.split(' ') ?? []
    expect(starts).toEqual([`${node} 1`, `${node} 2`, `${node} 3`, `${other} 1`])
    expect(other).not.toBe(node)
    const told = await events()
    expect(told.filter((name) => name === 'Instance Exited:1 (Error)')).toHaveLength(3)
    expect(told.filter((name) => name === 'Instance Restarted')).toHaveLength(2)
    expect(told.filter((name) => name === 'Instance Reallocated by Platform')).toHaveLength(1)
  })
})

describe('actions on an instance', () => {
  /** Prints what it finds in its folder, and leaves something there. */
  const line = `const fs = require('node:fs'); console.log(JSON.stringify({ found: fs.existsSync('kept') }))
    fs.writeFileSync('kept', ''); ${forEver}`
  const found = async () =>
    (await database().db.selectFrom('log_entries').select('json_log').orderBy('id').execute()).flatMap(
      ({ json_log }) => json_log?.found ?? [],
    )

  it('restart keeps the folder, recreate empties it, reallocate goes elsewhere', async () => {
    await database().db.deleteFrom('log_entries').execute()
    const { send, settled, list, group } = await bench()
    await settled(groupBody('first', { container: script(line) }))
    await soon(async () => expect(await found()).toEqual([false]))
    const instance = async () => (await list('first'))[0]
    const before = await instance()
    await send(`PATCH /first/instances/${before?.id}`, { deletion_cost: 9 })

    expect((await send(`POST /first/instances/${before?.id}/restart`)).status).toBe(202)
    await soon(async () => expect(await found()).toEqual([false, true]))
    const restarted = await soon(async () => {
      const now = await instance()
      expect(now).toMatchObject({ state: 'running', machine_id: before?.machine_id, deletion_cost: 9 })
      return now
    })
    expect(restarted?.id).not.toBe(before?.id)
    expect((await send(`GET /first/instances/${before?.id}`)).status).toBe(404)

    await send(`POST /first/instances/${restarted?.id}/recreate`)
    await soon(async () => expect(await found()).toEqual([false, true, false]))
    const recreated = await soon(async () => {
      const now = await instance()
      expect(now).toMatchObject({ state: 'running', machine_id: before?.machine_id, deletion_cost: 9 })
      return now
    })
    await send(`POST /first/instances/${recreated?.id}/reallocate`)
    await soon(async () => {
      expect((await group('first')).current_state.instance_status_counts).toMatchObject({
        running_count: 1,
        stopping_count: 0,
      })
      expect(await instance()).toMatchObject({ state: 'running', deletion_cost: 0 })
      expect((await instance())?.machine_id).not.toBe(before?.machine_id)
    })
  })

  it('are limited by the minute, each kind alone', async () => {
    const { send, settled, list } = await bench()
    await settled(groupBody('first', { container: script(forEver) }))
    const act = async (action: string) => {
      const [instance] = await list('first')
      const { status, headers } = await send(`POST /first/instances/${instance?.id}/${action}`)
      return status === 429 ? `429 ${Number(headers.get('retry-after')) > 0}` : status
    }
    expect([await act('restart'), await act('restart'), await act('restart')]).toEqual([202, 202, '429 true'])
    expect(await act('recreate')).toBe(202)
  })

  it.each([
    [{ deletion_cost: 100_001 }, 400],
    [{ deletion_cost: 1.5 }, 400],
    [{ deletion_cost: 1, state: 'running' }, 400],
    [{ deletion_cost: null }, 200],
  ])('a patch of %j answers %i', async (patch, status) => {
    const { send, settled, list } = await bench()
    await settled(groupBody('first', { container: script(forEver) }))
    const [instance] = await list('first')
    expect((await send(`PATCH /first/instances/${instance?.id}`, patch)).status).toBe(status)
  })

  it('through the metadata service are those of the instance alone', async () => {
    const { settled, list, instances } = await bench()
    await settled(groupBody('first', { container: script(forEver) }))
    const [before] = await list('first')
    const imds = instances().imdsInstance(before?.id ?? '')
    await imds.setDeletionCost(-5)
    expect(await imds.view()).toMatchObject({ deletion_cost: -5, status: { started: true, ready: true } })
    expect(await list('first')).toMatchObject([{ deletion_cost: 0 }])
    await imds.reallocate('too slow')
    const reasons = database()
      .db.selectFrom('node_exclusions')
      .select('reason')
      .where('machine_id', '=', before?.machine_id ?? '')
    expect((await reasons.execute()).map(({ reason }) => reason)).toContain('too slow')
    await soon(async () => expect(await imds.view()).toBeUndefined())
  })
})
