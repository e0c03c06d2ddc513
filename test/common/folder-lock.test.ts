import { existsSync } from 'node:fs'
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockFolder } from '../../src/common/postgres/folder-lock.ts'
import { emptyFolder } from '../support/folder.ts'

const me = { pid: process.pid, host: 'here', started: 1000 }
const inFolder = async () => join(await emptyFolder(), 'queue', 'lock')
const lock = (file: string, holder = me) => lockFolder(file, holder, Date.now)

describe('the lock of a folder', () => {
  it('keeps others out until it is given up', async () => {
    const file = await inFolder()
    const unlock = await lock(file)
    await expect(lock(file)).rejects.toMatchObject({
      name: 'FolderInUse',
      message: expect.stringMatching(/in use by process \d+ on here/),
    })
    await unlock()
    expect(existsSync(file)).toBe(false)
    await (await lock(file))()
  })

  it.each([
    ['a process that is gone', { ...me, pid: 2 ** 22 + 1 }],
    ['the same container before it was started again', { ...me, started: 1 }],
  ])('is taken over from %s', async (_, left) => {
    const file = await inFolder()
    const unlock = await lock(file, left)
    const ours = await lock(file)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(me)
    await Promise.all([ours(), unlock()])
  })

  it.each([
    ['another machine', { ...me, host: 'elsewhere' }],
    ['a process whose number another one has by now', { ...me, pid: process.ppid }],
  ])('is taken over from %s when it has been silent for a while', async (_, left) => {
    const file = await inFolder()
    const unlock = await lock(file, left)
    await expect(lock(file)).rejects.toMatchObject({ name: 'FolderInUse' })
    await utimes(file, 0, 0)
    const ours = await lock(file)
    await Promise.all([ours(), unlock()])
  })

  it('is taken over when it was cut off while it was written', async () => {
    const file = await inFolder()
    await (await lock(file))()
    await writeFile(file, '{"pid":')
    await (await lock(file))()
  })

  it('goes to one of several that find it free', async () => {
    const file = await inFolder()
    const all = await Promise.allSettled([1, 2, 3].map((started) => lock(file, { ...me, started })))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of all) if (each.status === 'fulfilled') await each.value()
  })
})
