import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createQueueBook } from '../../../src/platform/queues/queue-book.ts'
import { createFirstGroups, ownerNamed, readFirstGroups } from '../../../src/platform/wiring/first-groups.ts'
import { groupBody } from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'
import { addTenant, platformDatabase } from '../../support/platform-database.ts'

const database = platformDatabase()

const read = async (content: unknown) => {
  const file = join(await emptyFolder(), 'container-group.json')
  await writeFile(file, JSON.stringify(content))
  return (await readFirstGroups({ firstGroups: { file, usual: '' } }, new Set()))!
}

it('first groups are made once, with their queues, and left alone afterwards', async () => {
  const { db } = database()
  const { organization } = await addTenant(db, 'first-groups')
  const owner = await ownerNamed(db, organization.name, 'demo')
  const queue_connection = { path: '/', port: 3000, queue_name: 'jobs' }
  const first = await read({ queues: [{ name: 'jobs' }], groups: [groupBody('first', { queue_connection })] })
  const told: string[] = []
  const tell = (_facts: object, message: string) => void told.push(message)
  const log = { debug: tell, info: tell, warn: tell, error: tell }
  const changed: string[] = []
  const unused = {} as never // nothing is removed here
  const queues = createQueueBook({
    ...{ db, now: Date.now, transitions: unused, dispatch: unused, onWebhooks: () => undefined, log },
  })
  const deps = {
    ...{ db, now: Date.now, instances: { changed: (id: string) => void changed.push(id) }, queues, owner, log },
    ...{ quotas: { replicaQuota: 1 }, gatewayDomain: 'localhost' },
  }
  await createFirstGroups(first, deps)
  expect([changed.length, told]).toEqual([1, []])
  await createFirstGroups(first, deps)
  expect(told).toEqual(['a queue is there and left as it is', 'a container group is there and left as it is'])
  const second = await read(groupBody('second'))
  await expect(createFirstGroups(second, deps)).rejects.toThrow(/the container group second: .*quota of 1/)
  await expect(ownerNamed(db, organization.name, undefined)).rejects.toThrow('has no project')
  const rows = await db.selectFrom('container_groups').select(['name', 'queue_id']).execute()
  expect(rows).toEqual([{ name: 'first', queue_id: expect.any(String) }])
})
