import { fork } from 'node:child_process'
import { once } from 'node:events'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { hasEmbeddedQueue, openEmbeddedQueue, type Place } from '../../../src/workload/queue/embedded.ts'
import { createLazyQueue } from '../../../src/workload/queue/lazy.ts'
import { emptyFolder } from '../../support/folder.ts'
import { closing, collect, eventually, MAKING_MS, placeIn, queueFolderIn, requestOf } from '../../support/queues.ts'

const RETENTION_MS = 60_000

async function folderWithDatabase(): Promise<string> {
  const folder = await emptyFolder()
  await queueFolderIn(folder)
  return folder
}

const opened = async (place: Place) => closing(await openEmbeddedQueue(place, RETENTION_MS))

describe('the embedded queue', () => {
  it('loses nothing that was accepted when its process is killed, and resumes at once', {
    timeout: MAKING_MS,
  }, async () => {
    const folder = await folderWithDatabase()
    const built = (name: string) => new URL(`../../workload/queue/${name}.js`, placeIn(folder).entry).href
    // Another process: submits, takes two, notes something, and is killed right after it says so.
    const program = `
      const { openEmbeddedQueue } = await import('${built('embedded')}')
      const log = { debug() {}, info() {}, warn() {}, error() {} }
      const holder = { pid: process.pid, host: 'here', started: performance.timeOrigin }
      const place = { folder: '${folder}', entry: new URL('${placeIn(folder).entry}'), holder, now: Date.now, log }
      const queue = await openEmbeddedQueue(place, ${RETENTION_MS})
      for (const id of ['1', '2', '3', '4'])
        await queue.submit({ id, run: 1, asked: 'x'.repeat(100_000), priority: 0, created: Number(id) })
      let room = 2
      queue.work(async ({ id, keep }) => {
        room--
        if (id === '1') return
        await keep('noted')
        process.send('noted')
        await new Promise(() => undefined)
      }, () => room > 0)`
    const script = join(await emptyFolder(), 'doomed.mjs')
    await writeFile(script, program)
    const child = fork(script)
    onTestFinished(() => void child.kill('SIGKILL'))
    expect((await Promise.race([once(child, 'message'), once(child, 'exit')]))[0]).toBe('noted')
    child.kill('SIGKILL')
    await once(child, 'exit')

    const place = placeIn(folder)
    const queue = await opened({ ...place, holder: { ...place.holder, host: 'here' } })
    const held = collect(queue)
    await eventually(() => expect(held).toHaveLength(4))
    expect(held.map(({ id, starts, note, asked }) => [id, starts, note, asked.length])).toEqual([
      ['1', 2, undefined, 100_000],
      ['2', 2, 'noted', 100_000],
      ['3', 1, undefined, 100_000],
      ['4', 1, undefined, 100_000],
    ])
  })

  it('has its folder alone', async () => {
    const folder = await folderWithDatabase()
    const place = placeIn(folder)
    const first = await openEmbeddedQueue(place, RETENTION_MS)
    const refused = openEmbeddedQueue(place, RETENTION_MS)
    await expect(refused).rejects.toBeInstanceOf(WorkloadError)
    await expect(refused).rejects.toMatchObject({ code: 'not-ready', message: expect.stringContaining('in use') })
    await first.close()
  })

  it('is made at the first submission, and from then on resumed', { timeout: MAKING_MS }, async () => {
    const folder = await emptyFolder()
    const place = placeIn(join(folder, 'queue'))
    const lazy = () =>
      createLazyQueue({
        open: () => openEmbeddedQueue(place, RETENTION_MS),
        exists: () => hasEmbeddedQueue(place.folder),
        log: place.log,
      })
    const first = lazy()
    const held = collect(first)
    expect([first.waiting, first.reachable]).toEqual([0, true])
    expect([await first.find('1'), await first.list(9), await first.cancel('1')]).toEqual([undefined, [], false])
    expect([await first.revive('1', ''), await first.remove('1')]).toEqual([false, undefined])
    expect(hasEmbeddedQueue(place.folder)).toBe(false)
    expect(await first.submit(requestOf('1'))).toMatchObject({ id: '1' })
    await eventually(() => expect(held).toHaveLength(1))
    await first.close()

    const second = closing(lazy())
    const resumed = collect(second)
    await eventually(() => expect(resumed).toMatchObject([{ id: '1', starts: 2 }]))
  })

  it('answers that it is not ready when it cannot be opened, and tries again', async () => {
    const folder = await folderWithDatabase()
    const place = placeIn(folder)
    const lock = join(folder, 'lock')
    await writeFile(lock, JSON.stringify({ ...place.holder, host: 'elsewhere' }))
    const queue = createLazyQueue({
      open: () => openEmbeddedQueue(place, RETENTION_MS),
      exists: () => true,
      log: place.log,
    })
    await expect(queue.submit(requestOf('1'))).rejects.toMatchObject({ code: 'not-ready' })
    expect(queue.reachable).toBe(false)
    await utimes(lock, 0, 0)
    await queue.submit(requestOf('1'))
    expect(queue.reachable).toBe(true)
    await queue.close()
  })
})
