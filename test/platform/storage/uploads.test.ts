import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { storageBench } from './bench.ts'

const bench = storageBench()
const LEAST = 5 * 2 ** 20
const md5 = (data: Buffer) => createHash('md5').update(data).digest()

async function begun(setup: Parameters<typeof bench>[0] = {}, path = 'big/film.bin') {
  const here = await bench(setup)
  const created = await here.ask('PUT', `files/${path}?action=mpu-create`)
  expect(created.status).toBe(200)
  const { uploadId } = created.json as unknown as { uploadId: string }
  return {
    ...here,
    uploadId,
    put: (number: number | string, body: Buffer | string, id = uploadId) =>
      here.ask('PUT', `file_parts/${path}?partNumber=${number}&uploadId=${id}`, { 'content-type': 'video/mp4' }, body),
    complete: (parts: unknown, id = uploadId) =>
      here.ask(
        'PUT',
        `files/${path}?action=mpu-complete&uploadId=${id}`,
        { 'content-type': 'application/json' },
        JSON.stringify({ parts }),
      ),
    abort: (id = uploadId) => here.ask('DELETE', `files/${path}?action=mpu-abort&uploadId=${id}`),
    read: () => here.ask('GET', `files/${path}`),
  }
}

describe.each([['disk'], ['s3']] as const)('a multipart upload on %s', (store) => {
  it('makes a file of its parts, in the order of their numbers', async () => {
    const { put, complete, read, base, namesOfBlobs, folder } = await begun({ store })
    const [first, last] = [randomBytes(LEAST), randomBytes(1000)]
    await put(7, last)
    await put(2, 'is replaced')
    const { json } = await put(2, first)
    expect(json).toEqual({ partNumber: 2, etag: md5(first).toString('hex') })
    expect((await read()).status).toBe(404)
    const parts = [first, last].map((part, i) => ({ partNumber: [2, 7][i], etag: md5(part).toString('hex') }))
    const done = await complete(parts)
    expect([done.status, done.json]).toEqual([200, { url: `${base}/files/big/film.bin` }])
    const etag = `"${md5(Buffer.concat([md5(first), md5(last)])).toString('hex')}-2"`
    expect(done.headers.etag).toBe(etag)
    const file = await read()
    expect(file.body.equals(Buffer.concat([first, last]))).toBe(true)
    expect(file.headers).toMatchObject({ etag, 'content-type': 'application/octet-stream' })
    expect([await namesOfBlobs(), await readdir(join(folder, 'incoming'))]).toEqual([[expect.anything()], []])
    expect((await complete(parts)).status).toBe(400)
  })

  it('leaves nothing when it is aborted', async () => {
    const { put, abort, namesOfBlobs } = await begun({ store })
    await put(1, 'a')
    expect((await abort()).status).toBe(204)
    expect(await namesOfBlobs()).toEqual([])
    expect([(await abort()).status, (await put(1, 'a')).status]).toEqual([400, 400])
  })
})

describe('a part', () => {
  it.each([['0'], ['10001'], ['1.5'], ['-1'], ['x'], [''], ['1&partNumber=2']])(
    'may not have the number %j',
    async (number) => {
      const { put, namesOfBlobs } = await begun()
      expect((await put(number, 'a')).status).toBe(400)
      expect(await namesOfBlobs()).toEqual([])
    },
  )

  it('must belong to an upload of this file, hold something, and fit', async () => {
    const { put, ask, uploadId } = await begun({ settings: { requestBytes: 1000 } })
    expect((await put(10_000, 'a')).status).toBe(200)
    for (const id of [randomUUID(), 'x', '']) expect((await put(1, 'a', id)).status).toBe(400)
    expect((await ask('PUT', `file_parts/other?partNumber=1&uploadId=${uploadId}`, {}, 'a')).status).toBe(400)
    expect((await put(1, '')).status).toBe(400)
    const large = { 'transfer-encoding': 'chunked' }
    const at = `file_parts/big/film.bin?partNumber=1&uploadId=${uploadId}`
    expect((await ask('PUT', at, large, Buffer.alloc(1001))).status).toBe(413)
    expect((await ask('PUT', at, {}, Buffer.alloc(1001))).status).toBe(413)
    expect((await ask('PUT', at, large, Buffer.alloc(1000))).status).toBe(200)
  })

  it('belongs to one organization', async () => {
    const { uploadId } = await begun()
    const there = await bench()
    const at = `file_parts/big/film.bin?partNumber=1&uploadId=${uploadId}`
    expect((await there.ask('PUT', at, {}, 'a')).status).toBe(400)
  })
})

describe('completing', () => {
  it('is refused when the parts make no file, and may be tried again', async () => {
    const { put, complete, read } = await begun()
    const etagOf = async (number: number, body: Buffer | string) =>
      ({ partNumber: number, etag: (await put(number, body)).json.etag }) as const
    const [small, large] = [await etagOf(1, 'small'), await etagOf(2, Buffer.alloc(LEAST))]
    const faults: readonly (readonly [unknown, RegExp])[] = [
      [[], /parts: must be a list/],
      ['all', /parts: must be a list/],
      [[{ partNumber: 1 }], /parts\.0\.etag: is required/],
      [[large, small], /numbers must rise/],
      [[large, large], /numbers must rise/],
      [[small, large], /part 1 has less than 5242880 bytes/],
      [[{ ...large, etag: small.etag }], /no part 2 of this etag/],
      [[{ ...large, partNumber: 3 }], /no part 3/],
    ]
    for (const [parts, detail] of faults) {
      const { status, json } = await complete(parts)
      expect([status, json.detail]).toEqual([400, expect.stringMatching(detail)])
    }
    for (const id of [randomUUID(), 'x', '']) expect((await complete([large], id)).status).toBe(400)
    expect((await complete([large])).status).toBe(200)
    expect((await read()).body).toHaveLength(LEAST)
  })

  it('replaces a file that is there', async () => {
    const { upload, put, complete, read, namesOfBlobs } = await begun()
    await upload('big/film.bin', { file: 'old', mimeType: 'text/plain' })
    const { json } = await put(1, 'new')
    expect((await read()).text).toBe('old')
    await complete([{ partNumber: 1, etag: json.etag }])
    expect((await read()).text).toBe('new')
    expect(await namesOfBlobs()).toHaveLength(1)
  })

  it('makes one file when it is asked for twice at once', async () => {
    const { put, complete, read, sweep, clock, namesOfBlobs } = await begun()
    const { json } = await put(1, 'a')
    const parts = [{ partNumber: 1, etag: json.etag }]
    const answers = await Promise.all([complete(parts), complete(parts)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect((await read()).text).toBe('a')
    clock.ms += 2 * 3_600_000
    await sweep()
    expect([(await read()).text, await namesOfBlobs()]).toEqual(['a', [expect.anything()]])
  })
})

describe('an action', () => {
  it.each([
    ['PUT', 'mpu-abort'],
    ['PUT', ''],
    ['PUT', 'toString'],
    ['PUT', 'mpu-create&action=mpu-create'],
    ['DELETE', 'mpu-create'],
    ['DELETE', 'x'],
  ])('of %s may not be %j', async (method, action) => {
    const { ask, upload } = await bench()
    await upload('a', { file: 'a' })
    expect((await ask(method, `files/a?action=${action}`)).status).toBe(400)
    expect((await ask('GET', `files/a?action=${action}`)).text).toBe('a')
  })
})
