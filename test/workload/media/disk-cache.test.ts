import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Auth } from '../../../src/contracts/credentials.ts'
import { type CacheRequest, cachedName, createDiskCache } from '../../../src/workload/media/disk-cache.ts'
import type { FileFact } from '../../../src/workload/media/file-events.ts'
import { type Answer, fetchHere, quiet, remoteHere, serveFile, startSite } from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

const still = new AbortController().signal
const bearer = (token: string): Auth => ({ type: 'bearer', token })
const thousand = (letter: string) => Buffer.alloc(1000, letter)

async function cacheWith({ root, maxBytes = 0 }: { readonly root?: string; readonly maxBytes?: number } = {}) {
  const folder = root ?? (await emptyFolder())
  const events: (readonly [string, FileFact])[] = []
  let clock = Date.now()
  const cache = createDiskCache({
    root: folder,
    maxBytes,
    fetchFile: fetchHere(),
    openRemote: remoteHere(),
    events: { downloaded: (file) => events.push(['came', file]), deleted: (file) => events.push(['went', file]) },
    log: quiet.log,
    now: () => clock++,
    firstPauseMs: 1,
  })
  const take = (url: string, more: Partial<CacheRequest> = {}) =>
    cache.take({ url, folder: 'loras', extension: '.safetensors', auth: undefined, signal: still, ...more })
  const files = async () => (await readdir(join(folder, 'loras')).catch(() => [])).toSorted()
  const contentOf = (name: string) => readFile(join(folder, 'loras', name), 'utf8')
  return { root: folder, cache, take, files, contentOf, events }
}

/** Serves the path's last letter a thousand times. */
const letters: Answer = (request, response) => serveFile(thousand(request.url!.at(-1)!))(request, response)

describe('a file of a URL', () => {
  it('is fetched once and has a name made from its URL', async () => {
    const site = await startSite(letters)
    const { take, files, events } = await cacheWith()
    const [first, second] = [await take(`${site.origin}/a?key=hidden`), await take(`${site.origin}/a?key=hidden`)]
    expect(first.name).toMatch(/^[\w-]{32}\.safetensors$/)
    expect([second.name, site.asked.length]).toEqual([first.name, 1])
    expect(await files()).toEqual([first.name])
    expect(events).toMatchObject([['came', { name: `loras/${first.name}`, bytes: 1000 }]])
  })

  it('stays apart from a file of the same name elsewhere', async () => {
    const site = await startSite((request, response) => serveFile(thousand(request.url!.at(1)!))(request, response))
    const { take, contentOf } = await cacheWith()
    const [a, b] = await Promise.all([take(`${site.origin}/a/m`), take(`${site.origin}/b/m`)])
    expect([(await contentOf(a.name))[0], (await contentOf(b.name))[0]]).toEqual(['a', 'b'])
  })

  it('is fetched once for all who ask at the same time, and as long as one of them waits', async () => {
    let send = () => undefined as unknown
    const site = await startSite((_, response) => {
      response.writeHead(200, { 'content-length': 1000 }).flushHeaders()
      send = () => response.end(thousand('a'))
    })
    const { take, files } = await cacheWith()
    const gone = new AbortController()
    const asking = [gone.signal, still, still].map((signal) => take(`${site.origin}/a`, { signal }))
    await expect.poll(() => site.asked.length).toBe(1)
    gone.abort(new Error('gone'))
    await expect(asking[0]).rejects.toThrow('gone')
    send()
    await Promise.all(asking.slice(1))
    expect([site.asked.length, (await files()).length]).toEqual([1, 1])
  })

  it('is no longer fetched when nobody waits, and can be asked for again', async () => {
    const closed: boolean[] = []
    let patient = false
    const site = await startSite((request, response) => {
      if (patient) return serveFile(thousand('a'))(request, response)
      response
        .on('close', () => closed.push(true))
        .writeHead(200, { 'content-length': 1000 })
        .flushHeaders()
    })
    const { take } = await cacheWith()
    const gone = new AbortController()
    const asking = take(`${site.origin}/a`, { signal: gone.signal })
    await expect.poll(() => site.asked.length).toBe(1)
    gone.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    patient = true
    await take(`${site.origin}/a`)
    await expect.poll(() => closed.length).toBe(1)
  })

  it('is fetched again when what lies there is not what was kept', async () => {
    const site = await startSite(letters)
    const { take, root, contentOf } = await cacheWith()
    const { name, release } = await take(`${site.origin}/a`)
    release()
    await writeFile(join(root, 'loras', name), 'cut')
    await take(`${site.origin}/a`)
    expect(await contentOf(name)).toHaveLength(1000)
  })
})

describe('room', () => {
  it('is made before a file comes: the one unused for longest goes, not one in use', async () => {
    const site = await startSite(letters)
    const { take, files, events } = await cacheWith({ maxBytes: 2500 })
    const held = await take(`${site.origin}/a`)
    const b = await take(`${site.origin}/b`)
    b.release()
    const c = await take(`${site.origin}/c`)
    expect(await files()).toEqual([held.name, c.name].toSorted())
    expect(events.map(([what, { name }]) => [what, name.split('/')[1]])).toEqual([
      ['came', held.name],
      ['came', b.name],
      ['went', b.name],
      ['came', c.name],
    ])
    held.release()
    c.release()
    ;(await take(`${site.origin}/a`)).release()
    await take(`${site.origin}/d`)
    expect(await files()).toContain(held.name)
  })

  it('may be exceeded by what is in use, and is made when that is released', async () => {
    const site = await startSite(letters)
    const { take, files } = await cacheWith({ maxBytes: 1500 })
    const both = [await take(`${site.origin}/a`), await take(`${site.origin}/b`)]
    expect(await files()).toHaveLength(2)
    for (const { release } of both) release()
    await expect.poll(files).toHaveLength(1)
    await expect(take(`${site.origin}/c`)).resolves.toBeDefined()
  })

  it('is not made for a file that would not fit at all', async () => {
    const site = await startSite(letters)
    const { take } = await cacheWith({ maxBytes: 500 })
    await expect(take(`${site.origin}/a`)).rejects.toMatchObject({ code: 'model-too-large' })
  })

  it('is counted over restarts, in the order of use and not of reading', async () => {
    const site = await startSite(letters)
    const before = await cacheWith({ maxBytes: 2500 })
    const [a, b] = [await before.take(`${site.origin}/a`), await before.take(`${site.origin}/b`)]
    await before.take(`${site.origin}/a`)
    await before.cache.close()
    await utimes(join(before.root, 'loras', a.name), 0, 0)
    const { take, files, cache } = await cacheWith({ maxBytes: 2500, root: before.root })
    expect(await cache.bytes()).toBe(2000)
    await take(`${site.origin}/c`)
    expect(await files()).not.toContain(b.name)
    expect(site.asked).toHaveLength(3)
  })
})

describe('a file that was fetched with an identity', () => {
  const guarded: Answer = (request, response) => {
    const allowed = ['Bearer one', 'Bearer two'].includes(request.headers.authorization ?? '')
    if (!allowed) return void response.writeHead(401).end()
    serveFile(thousand('a'))(request, response)
  }

  it('is given only to those to whom the other side gives it', async () => {
    const site = await startSite(guarded)
    const { take } = await cacheWith()
    await take(`${site.origin}/a`, { auth: bearer('one') })
    await take(`${site.origin}/a`, { auth: bearer('two') })
    const refused = { code: 'model-unavailable', message: expect.stringContaining('401') }
    await expect(take(`${site.origin}/a`, { auth: bearer('three') })).rejects.toMatchObject(refused)
    await expect(take(`${site.origin}/a`)).rejects.toMatchObject(refused)
    expect(site.asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"1"', '"1"', '"1"'])
  })

  it('does not fail for one who may have it because another may not who asked at the same time', async () => {
    const site = await startSite(guarded)
    const { take } = await cacheWith()
    const asking = [
      take(`${site.origin}/a`, { auth: bearer('three') }),
      take(`${site.origin}/a`, { auth: bearer('one') }),
    ]
    const outcomes = await Promise.allSettled(asking)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  it('stays guarded when the index is lost', async () => {
    const site = await startSite(guarded)
    const before = await cacheWith()
    await before.take(`${site.origin}/a`, { auth: bearer('one') })
    await before.cache.close()
    await rm(join(before.root, 'index.json'))
    const { take } = await cacheWith({ root: before.root })
    await expect(take(`${site.origin}/a`)).rejects.toMatchObject({ code: 'model-unavailable' })
    await take(`${site.origin}/a`, { auth: bearer('one') })
  })

  it('is fetched again when it has changed', async () => {
    let etag = '"1"'
    const site = await startSite((request, response) => serveFile(thousand(etag[1]!), etag)(request, response))
    const { take, contentOf } = await cacheWith()
    const { name } = await take(`${site.origin}/a`, { auth: bearer('one') })
    etag = '"2"'
    await take(`${site.origin}/a`, { auth: bearer('one') })
    expect((await contentOf(name))[0]).toBe('2')
  })
})

it('removes parts that nobody has gone on with for a day', async () => {
  const root = await emptyFolder()
  await mkdir(join(root, 'loras'))
  await writeFile(join(root, 'loras/old.part'), '')
  await utimes(join(root, 'loras/old.part'), 0, 0)
  await writeFile(join(root, 'loras/new.part'), '')
  const { cache, files } = await cacheWith({ root })
  await cache.bytes()
  expect(await files()).toEqual(['new.part'])
})

it('keeps objects of a store that who asks names apart from those of others', () => {
  const request = { url: 's3://models/a', extension: '.sft' }
  const auth = (endpoint?: string): Auth => ({
    type: 's3',
    access_key_id: 'x',
    secret_access_key: 'y',
    ...(endpoint && { endpoint }),
  })
  const names = [auth('https://evil.test'), auth('https://good.test'), auth()].map((each) =>
    cachedName({ ...request, auth: each }),
  )
  expect(new Set(names).size).toBe(3)
  expect(cachedName({ ...request, auth: undefined })).toBe(names[2])
})
