import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readFirstGroups } from '../../../src/platform/wiring/first-groups.ts'
import { groupBody } from '../../support/container-groups.ts'
import { emptyFolder } from '../../support/folder.ts'

const none = new Set<string>()

const fileWith = async (content: unknown): Promise<string> => {
  const file = join(await emptyFolder(), 'container-group.json')
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
const read = (file: string | undefined, usual = '/nowhere/container-group.json') =>
  readFirstGroups({ firstGroups: { file, usual } }, none)

it.each([
  ['a create body', groupBody('first'), [[], ['first']]],
  ['a list of them', [groupBody('first'), groupBody('second')], [[], ['first', 'second']]],
  ['queues and groups', { queues: [{ name: 'jobs' }], groups: [groupBody('first')] }, [['jobs'], ['first']]],
  ['queues alone', { queues: [{ name: 'jobs' }] }, [['jobs'], []]],
  ['nothing', [], [[], []]],
])('are read from %s', async (_what, content, [queues, groups]) => {
  const found = await read(await fileWith(content))
  expect([found?.queues.map(({ name }) => name), found?.groups.map(({ name }) => name)]).toEqual([queues, groups])
})

it.each([
  ['{', 'is not valid JSON'],
  ['3', 'the whole: must be an object'],
  [{ queues: {} }, 'queues: must be a list'],
  [{ ...groupBody('first'), replicas: 'many' }, '\n  replicas: must be an integer from 0 to 500'],
  [[groupBody('first'), { ...groupBody('x') }], '\n  1.name: '],
  [{ queues: [{ name: 'X' }], groups: [] }, '\n  queues.0.name: must be'],
  [{ groups: [{ ...groupBody('first'), container: { image: 'i' } }] }, '\n  groups.0.container.resources: is required'],
])('are refused with file, member and reason: %j', async (content, reason) => {
  const file = await fileWith(content)
  const error: Error = await read(file).then(
    () => new Error('it was read'),
    (fault: Error) => fault,
  )
  expect(error.message).toContain(file)
  expect(error.message).toContain(reason)
})

it('are looked for in the usual place, unless a file is named', async () => {
  const file = await fileWith(groupBody('first'))
  expect(await read(undefined, file)).toMatchObject({ file })
  expect(await read(undefined)).toBeUndefined()
  await expect(read('/nowhere/container-group.json', file)).rejects.toThrow('/nowhere/container-group.json')
})

it('could be made from the example of this folder', async () => {
  expect((await read('container-group.json'))?.groups).toMatchObject([{ name: 'easel' }])
})
