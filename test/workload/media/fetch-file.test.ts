import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PassingFailure } from '../../../src/workload/media/attempts.ts'
import type { FileRequest } from '../../../src/workload/media/fetch-file.ts'
import {
  breakOffAfter,
  fetchHere,
  oneAfterTheOther,
  remoteHere,
  serveFile,
  startSite,
} from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

const file = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 251))
const sha256 = createHash('sha256').update(file).digest('hex')
const isAt = async (path: string, wanted = file) => wanted.equals(await readFile(path))
const progress = new EventEmitter()
const still = new AbortController().signal

async function requestFor(url: string, more: Partial<FileRequest> = {}): Promise<FileRequest & { folder: string }> {
  const folder = await emptyFolder()
  const onBytes = (received: number) => void progress.emit('bytes', received)
  return { onBytes, url, auth: undefined, signal: still, path: join(folder, 'm.safetensors'), folder, ...more }
}

describe('a file', () => {
  it('comes under its name, whole', async () => {
    const site = await startSite(serveFile(file))
    const request = await requestFor(`${site.origin}/m`, { sha256 })
    expect(await fetchHere()(request)).toEqual({ bytes: file.length, etag: '"1"' })
    expect(await isAt(request.path)).toBe(true)
    expect(await readdir(request.folder)).toEqual(['m.safetensors'])
  })

  it('is taken up where the connection broke', async () => {
    const site = await startSite(oneAfterTheOther(breakOffAfter(100_000, file, progress), serveFile(file)))
    const request = await requestFor(`${site.origin}/m`, { sha256 })
    await fetchHere()(request)
    expect(await isAt(request.path)).toBe(true)
    expect(site.asked[1]!.headers).toMatchObject({ range: 'bytes=100000-', 'if-range': '"1"' })
  })

  it('is begun anew when it has changed meanwhile, or when the server knows no ranges', async () => {
    const changed = Buffer.from(file).reverse()
    const site = await startSite(oneAfterTheOther(breakOffAfter(100_000, file, progress), serveFile(changed, '"2"')))
    const request = await requestFor(`${site.origin}/m`)
    await fetchHere()(request)
    expect(await isAt(request.path, changed)).toBe(true)
  })

  it('is taken up by a later call, also after a crash, but only what was surely on the disk', async () => {
    const site = await startSite(serveFile(file))
    const request = await requestFor(`${site.origin}/m`, { sha256 })
    const part = `${request.path}.${hostname()}-${2 ** 30}.part` // of a process that is not there
    const source = createHash('sha256').update(request.url).digest('hex')
    await writeFile(part, Buffer.concat([file.subarray(0, 1000), Buffer.alloc(500)]))
    await writeFile(`${part}.json`, JSON.stringify({ source, validator: '"1"', sha256: '', bytes: 1000 }))
    await fetchHere()(request)
    expect(site.asked[0]!.headers.range).toBe('bytes=1000-')
    expect(await isAt(request.path)).toBe(true)
    expect(await readdir(request.folder)).toEqual(['m.safetensors'])
  })

  it('is never made from the part of another URL', async () => {
    const site = await startSite(serveFile(file))
    const request = await requestFor(`${site.origin}/m`)
    await writeFile(`${request.path}.part`, Buffer.alloc(1000))
    await writeFile(`${request.path}.part.json`, JSON.stringify({ source: 'x', validator: '"1"', bytes: 1000 }))
    await fetchHere()(request)
    expect(await isAt(request.path)).toBe(true)
  })

  it('is asked for again after failures that may pass', async () => {
    const busy = (status: number) => (_: unknown, response: { writeHead(status: number): { end(): void } }) =>
      response.writeHead(status).end()
    const site = await startSite(oneAfterTheOther(busy(503), busy(429), busy(408), serveFile(file)))
    const request = await requestFor(`${site.origin}/m`)
    await fetchHere()(request)
    expect(site.asked).toHaveLength(4)
  })
})

describe('a file that does not come', () => {
  it('fails at once when the server refuses, with its status', async () => {
    const site = await startSite((_, response) => void response.writeHead(404).end())
    const request = await requestFor(`${site.origin}/m`)
    await expect(fetchHere()(request)).rejects.toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('404'),
    })
    expect(site.asked).toHaveLength(1)
  })

  it('fails in the end when every connection breaks, and leaves its part for later', async () => {
    const site = await startSite(breakOffAfter(1000, file, progress))
    const request = await requestFor(`${site.origin}/m`)
    await expect(fetchHere()(request)).rejects.toMatchObject({ code: 'download-failed' })
    expect(await readdir(request.folder)).toEqual(['m.safetensors.part', 'm.safetensors.part.json'])
  })

  it.each([
    ['the one that was asked for', {}, { sha256: '0'.repeat(64) }],
    ['the one that the store publishes', { 'x-linked-etag': `"${'0'.repeat(64)}"` }, {}],
    ['the one of the store for objects', { 'x-amz-checksum-sha256': Buffer.alloc(32).toString('base64') }, {}],
  ])('is refused when its SHA-256 is not %s', async (_, headers, more) => {
    const site = await startSite((_request, response) => void response.writeHead(200, headers).end(file))
    const request = await requestFor(`${site.origin}/m`, more)
    await expect(fetchHere()(request)).rejects.toMatchObject({ code: 'download-failed' })
    expect(await readdir(request.folder)).toEqual([])
  })

  it('is refused before a byte is read when it is too large for the limit or the disk', async () => {
    const site = await startSite(serveFile(file))
    const large = { code: 'model-too-large' }
    const request = await requestFor(`${site.origin}/m`)
    await expect(fetchHere({ maxBytes: 1000 })(request)).rejects.toMatchObject(large)
    await expect(fetchHere({ minFreeBytes: 2 ** 60 })(request)).rejects.toMatchObject(large)
    expect(await readdir(request.folder)).toEqual([])
  })

  it('is refused while it comes when its size was not told', async () => {
    const site = await startSite((_, response) => void response.writeHead(200).write(file))
    const request = await requestFor(`${site.origin}/m`)
    await expect(fetchHere({ maxBytes: 1000 })(request)).rejects.toMatchObject({ code: 'model-too-large' })
  })

  it('ends when its signal aborts', async () => {
    const ending = new AbortController()
    const site = await startSite((_, response) => {
      response.writeHead(200, { 'content-length': file.length, etag: '"1"' }).write(file.subarray(0, 1000))
    })
    const request = await requestFor(`${site.origin}/m`, {
      signal: ending.signal,
      onBytes: () => ending.abort(new Error('enough')),
    })
    await expect(fetchHere()(request)).rejects.toThrow('enough')
    expect(await readdir(request.folder)).toContain('m.safetensors.part')
  })

  it('replaces no other file where that is not wanted', async () => {
    const site = await startSite(serveFile(file))
    const request = await requestFor(`${site.origin}/m`, { exclusive: true })
    await writeFile(request.path, 'mine')
    await expect(fetchHere()(request)).rejects.toMatchObject({ code: 'name-taken' })
    expect(await readFile(request.path, 'utf8')).toBe('mine')
  })
})

it('shows who asks to the URL itself, and never to another origin', async () => {
  const other = await startSite(serveFile(file))
  const site = await startSite((_, response) => void response.writeHead(302, { location: `${other.origin}/m` }).end())
  await fetchHere()(await requestFor(`${site.origin}/m`, { auth: { type: 'bearer', token: 'secret' } }))
  expect(site.asked[0]!.headers.authorization).toBe('Bearer secret')
  expect(other.asked[0]!.headers.authorization).toBeUndefined()
})

it('comes from a store of objects too, begun anew where that broke', async () => {
  let opened = 0
  const openRemote = remoteHere({
    async open() {
      const whole = ++opened === 2
      const body = (async function* () {
        yield file.subarray(0, 1000)
        if (!whole) throw new PassingFailure('the connection broke')
        yield file.subarray(1000)
      })()
      return { body, bytes: file.length, etag: '"1"', close: () => undefined }
    },
  })
  const request = await requestFor('s3://models/m.safetensors', { sha256 })
  await fetchHere({}, openRemote)(request)
  expect([await isAt(request.path), opened]).toEqual([true, 2])
})
