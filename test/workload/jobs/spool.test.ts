import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { writeNote } from '../../../src/workload/jobs/life-note.ts'
import { createSpool } from '../../../src/workload/jobs/spool.ts'
import { emptyFolder } from '../../support/folder.ts'

const life = { runs: 1, revived: 0, delivery: [] }
const entry = { id: 'one', run: 1, asked: '{}', priority: 0, created: 0, starts: 1, cancelled: false, position: 0 }
const nobody = () => false

it('removes a folder so that an engine which still writes there brings nothing back', async () => {
  const root = await emptyFolder()
  const spool = createSpool(root, silentLog, Date.now)
  const folder = spool.name()
  await spool.make(folder, 'one')
  const output = join(folder, 'output')
  await mkdir(output)
  const writing = (async () => {
    for (let i = 0; i < 50; i++) await writeFile(join(output, `${i}.png`), 'pixels').catch(() => undefined)
  })()
  await spool.remove(folder)
  await writing
  await expect(mkdir(output)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await readdir(root)).toEqual([])
})

it('sweeps what was taken over, what has ended, and what a killed process was about to remove', async () => {
  const root = await emptyFolder()
  const spool = createSpool(root, silentLog, () => 1000)
  const [newest, lost, used] = [spool.name(), spool.name(), spool.name()]
  for (const folder of [newest, lost, used]) await spool.make(folder, 'one')
  await mkdir(join(root, '.gone-half'))
  await mkdir(join(root, 'of-somebody-who-waits'))
  const find = async () => ({ ...entry, stage: 'held' as const, note: writeNote({ ...life, folder: newest }) })
  await spool.sweep({ find }, (folder) => folder === used, 0)
  const left = async () => (await readdir(root)).map((name) => join(root, name)).sort()
  expect(await left()).toEqual([join(root, 'of-somebody-who-waits'), newest, used].sort())

  const ended = async () => ({
    ...(await find()),
    stage: 'ended' as const,
    note: writeNote({ ...life, folder: newest, outcome: { at: 500 } }),
  })
  await spool.sweep({ find: ended }, nobody, 1000) // nothing was to be delivered: kept for a while
  expect(await left()).toContain(newest)
  await spool.sweep({ find: ended }, nobody, 100)
  expect(await left()).toEqual([join(root, 'of-somebody-who-waits')])
})
