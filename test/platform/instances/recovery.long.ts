import { describe, expect, it } from 'vitest'
import { containerInputSchema } from '../../../src/contracts/platform/container.ts'
import { containerOf, groupBench, groupBody, launcherIn, soon } from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'
import { platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()
const forEver = containerOf([process.execPath, '-e', 'setInterval(() => undefined, 1000)'])

describe('after the platform was ended', () => {
  it('its groups get new instances, and nobody else notices', async () => {
    const { settled, instances, reopen, list, group, events } = await groupBench(database())
    const before = await settled(groupBody('first', { replicas: 2, container: forEver }))
    const old = (await list('first')).map(({ id }) => id)
    await instances().close()
    await reopen()
    await soon(async () => {
      const found = await list('first')
      expect(found).toMatchObject([{ state: 'running' }, { state: 'running' }])
      expect(found.filter(({ id }) => old.includes(id))).toEqual([])
    })
    expect(await group('first')).toMatchObject({ id: before.id, version: 1, current_state: { status: 'running' } })
    expect(await events()).toContain('Instance Interrupted (Node Offline)')
  })

  it('the processes it left are ended by the next one', async () => {
    const folder = await emptyFolder()
    const left = await launcherIn(folder).start({
      machineId: 'a-node',
      ...{ fresh: true, ports: [] },
      container: containerInputSchema.parse(forEver),
      environment: {},
      onLine: () => undefined,
    })
    await launcherIn(folder).sweep()
    expect(await left.ended).toBe(143)
  })
})
