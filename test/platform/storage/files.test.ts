import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemSchema } from '../../../src/contracts/platform/problem.ts'
import { ask, formOf, storageBench } from './bench.ts'

const bench = storageBench()
const md5 = (data: string | Buffer) => createHash('md5').update(data).digest('hex')

describe.each([['disk'], ['s3']] as const)('files on %s', (store) => {
  it('come back as they were, with type, length and etag', async () => {
    const { upload, ask, base } = await bench({ store })
    const file = randomBytes(300_000)
    const put = await upload('inputs/cat.png', { file, mimeType: 'image/png' })
    expect([put.status, put.json]).toEqual([200, { url: `${base}/files/inputs/cat.png` }])
    const got = await ask('GET', 'files/inputs/cat.png')
    expect(got.status).toBe(200)
    expect(got.body.equals(file)).toBe(true)
    const facts = { 'content-type': 'image/png', 'content-length': '300000', etag: `"${md5(file)}"` }
    expect(got.headers).toMatchObject(facts)
    const head = await ask('HEAD', 'files/inputs/cat.png')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers).toMatchObject(facts)
  })

  it('are replaced silently, and nothing of the old one stays', async () => {
    const { upload, ask, namesOfBlobs } = await bench({ store })
    await upload('a', { file: 'old and longer', mimeType: 'text/plain' })
    expect((await upload('a', { file: 'new' })).status).toBe(200)
    const { text, headers } = await ask('GET', 'files/a')
    expect([text, headers['content-type']]).toEqual(['new', 'application/octet-stream'])
    expect(await namesOfBlobs()).toHaveLength(1)
  })

  it('are gone when they were deleted, however often', async () => {
    const { upload, ask, namesOfBlobs } = await bench({ store })
    await upload('a', { file: 'a' })
    for (let i = 0; i < 2; i++) expect((await ask('DELETE', 'files/a')).status).toBe(204)
    const { status, json } = await ask('GET', 'files/a')
    expect([status, json.detail]).toEqual([404, 'The file could not be found.'])
    expect(await namesOfBlobs()).toEqual([])
  })

  it('are given in part to who asks for a range, also when they are empty', async () => {
    const { upload, ask } = await bench({ store })
    await upload('a', { file: '0123456789' })
    const part = await ask('GET', 'files/a', { range: 'bytes=-3' })
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, '789', 'bytes 7-9/10'])
    for (const range of ['bytes=10-', 'bytes=5-2', 'lines=1-2', 'bytes=0-1,4-5'])
      expect(await ask('GET', 'files/a', { range })).toMatchObject({ status: 200, text: '0123456789' })
    await upload('empty', { file: '' })
    expect(await ask('GET', 'files/empty', { range: 'bytes=0-' })).toMatchObject({ status: 200, text: '' })
  })
})

describe('files', () => {
  it('may have any name that needs no way out of itself', async () => {
    const { upload, ask, base } = await bench()
    const names = ['in folder/b #1?&=%20.png', 'ü 絵.png', "a'(b)*!", '...', 'x'.repeat(1024)]
    for (const name of names) {
      const path = name.split('/').map(encodeURIComponent).join('/')
      expect((await upload(path, { file: name })).json.url).toBe(`${base}/files/${path}`)
      expect((await ask('GET', `files/${path}`)).text).toBe(name)
    }
    expect((await ask('GET', 'files/ÜX'.replace('ÜX', '%C3%BC%20%E7%B5%B5.PNG'))).status).toBe(404)
  })

  it.each([
    ['a//b'],
    ['./a'],
    ['a/..'],
    ['%2e%2e/a'],
    ['a%2F..%2Fb'],
    ['a/'],
    ['%00'],
    ['a%0A'],
    ['%ff'],
    ['x'.repeat(1025)],
  ])('may not be called %j', async (path) => {
    const { upload } = await bench()
    expect((await upload(path, { file: 'a' })).status).toBe(400)
  })

  it('are listed by path, in the order of bytes, for their organization only', async () => {
    const [here, there] = [await bench(), await bench()]
    await there.upload('theirs', { file: 'a' })
    for (const path of ['b', 'a/b', 'B', '%C3%BC', 'a']) await here.upload(path, { file: path, mimeType: 'text/plain' })
    const { files } = (await here.ask('GET', 'files')).json as unknown as { files: { url: string }[] }
    expect(files.map(({ url }) => url.slice(here.base.length + '/files/'.length))).toEqual([
      'B',
      'a',
      'a/b',
      'b',
      '%C3%BC',
    ])
    expect(files[1]).toEqual({
      url: `${here.base}/files/a`,
      mimeType: 'text/plain',
      size: 1,
      uploaded: new Date(here.clock.ms).toISOString(),
      etag: md5('a'),
    })
  })

  it('answer 304 to who has them already', async () => {
    const { upload, ask } = await bench()
    await upload('a', { file: 'a' })
    expect(await ask('GET', 'files/a', { 'if-none-match': `"${md5('a')}"` })).toMatchObject({ status: 304, text: '' })
    expect((await ask('GET', 'files/a', { 'if-none-match': '"x"' })).status).toBe(200)
  })
})

describe('an upload', () => {
  it.each([
    ['no file', formOf({ mimeType: 'image/png' }), 'file: is required'],
    ['a bad type', formOf({ file: 'a', mimeType: 'picture' }), 'mimeType: must be of the form type/subtype'],
    [
      'a bad lifetime',
      formOf({ file: 'a', sign: 'TRUE', signatureExp: '59' }),
      'signatureExp: must be a whole number of seconds from 60 to 2592000',
    ],
    ['a text that is too long', formOf({ mimeType: 'x'.repeat(2000), file: 'a' }), 'mimeType: is too long'],
    ['another media type', { headers: { 'content-type': 'image/png' }, body: 'a' }, /multipart\/form-data/],
    ['no media type', { headers: {}, body: 'a' }, /multipart\/form-data/],
    ['no boundary', { headers: { 'content-type': 'multipart/form-data' }, body: 'a' }, /cannot be read/],
    ['half a form', { ...formOf({ file: 'a' }), body: formOf({ file: 'a' }).body.subarray(0, -12) }, /cannot be read/],
    ['no form', { ...formOf({}), body: '' }, /cannot be read|file: is required/],
  ] as const)('with %s is refused and leaves the old file', async (_, { headers, body }, detail) => {
    const { upload, ask, folder, namesOfBlobs } = await bench()
    await upload('a', { file: 'old' })
    const answer = await ask('PUT', 'files/a', headers, body)
    expect(answer.status).toBe(400)
    expect(answer.json.detail).toEqual(typeof detail === 'string' ? detail : expect.stringMatching(detail))
    expect((await ask('GET', 'files/a')).text).toBe('old')
    // What was refused may go a moment after the answer.
    await expect
      .poll(async () => [await namesOfBlobs(), await readdir(join(folder, 'incoming'))])
      .toEqual([[expect.anything()], []])
  })

  it('takes one file only, and skips what it does not know', async () => {
    const { ask, upload } = await bench()
    const { headers, body } = formOf({ file: 'a' })
    const second = Buffer.concat([body.subarray(0, -'--edge--\r\n'.length), body])
    expect((await ask('PUT', 'files/a', headers, second)).json.detail).toBe('file: must be there only once')
    expect((await upload('a', { other: 'x'.repeat(10_000), file: 'a', signatureExp: 'never' })).status).toBe(200)
  })

  it.each([[true], [false]])('beyond the limit is refused and leaves the old file (length told: %s)', async (told) => {
    const { upload, ask, folder, namesOfBlobs } = await bench({ settings: { requestBytes: 1_000_000 } })
    await upload('a', { file: 'old' })
    const { headers, body } = formOf({ file: Buffer.alloc(1_000_000) })
    const answer = await ask('PUT', 'files/a', told ? headers : { ...headers, 'transfer-encoding': 'chunked' }, body)
    expect([answer.status, answer.json.title]).toEqual([413, 'Content Too Large'])
    expect((await ask('GET', 'files/a')).text).toBe('old')
    expect([await namesOfBlobs(), await readdir(join(folder, 'incoming'))]).toEqual([[expect.anything()], []])
    const most = formOf({ file: Buffer.alloc(1_000_000 - formOf({ file: '' }).body.length) })
    expect((await ask('PUT', 'files/a', { ...headers, 'transfer-encoding': 'chunked' }, most.body)).status).toBe(200)
  })

  it('may have 100 MiB if nothing else was set, and one that says it has more is not even read', async () => {
    const { ask } = await bench()
    const { headers } = formOf({})
    expect((await ask('PUT', 'files/a', { ...headers, 'content-length': '104857601' })).status).toBe(413)
  })

  it('that breaks off leaves the old file and nothing else', async () => {
    const { upload, ask, url, own, tenant, folder, namesOfBlobs } = await bench()
    await upload('a', { file: 'old' })
    const { headers, body } = formOf({ file: Buffer.alloc(200_000) })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const lines = Object.entries({ host: 'x', ...own, ...headers, 'content-length': body.length })
    socket.write(`PUT /organizations/${tenant.organization.name}/files/a HTTP/1.1\r\n`)
    socket.write(`${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
    socket.write(body.subarray(0, 100_000))
    const incoming = () => readdir(join(folder, 'incoming'))
    await expect.poll(incoming).toHaveLength(1)
    socket.destroy()
    await once(socket, 'close')
    await expect.poll(incoming).toEqual([])
    expect([(await ask('GET', 'files/a')).text, await namesOfBlobs()]).toEqual(['old', [expect.anything()]])
  })
})

describe('every answer', () => {
  it.each([
    ['PATCH', 'files/a', 405, 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['POST', 'files', 405, 'GET, HEAD, OPTIONS'],
    ['GET', 'file_tokens/a', 405, 'POST, OPTIONS'],
    ['GET', 'file_parts/a', 405, 'PUT, OPTIONS'],
    ['GET', 'files/', 404, undefined],
    ['GET', 'other', 404, undefined],
  ])('to %s %s says what is wrong, whoever asks', async (method, path, status, allow) => {
    const { base, url } = await bench()
    const answer = await ask(method, `${base}/${path}`)
    expect([answer.status, answer.headers.allow]).toEqual([status, allow])
    expect(answer.headers['content-type']).toBe('application/problem+json')
    const problem = problemSchema.parse(answer.json)
    expect(problem.type).toBe(`${url}/e/${status === 405 ? 'method-not-allowed' : 'not-found'}`)
    expect(problem.instance).toBe(`${url}/i/${answer.headers['x-request-id']}`)
  })

  it('may be read by pages of every site, whose browsers ask first', async () => {
    const { url, base, ask: asMember } = await bench()
    for (const address of [`${base}/files/a`, `${url}/whatever`]) {
      const answer = await ask('OPTIONS', address)
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': expect.stringContaining('PUT'),
        'access-control-allow-headers': expect.stringContaining('Service-Api-Key'),
      })
    }
    expect((await asMember('GET', 'files/none')).headers['access-control-allow-origin']).toBe('*')
  })

  it('to a body in vain is given before it is asked for', async () => {
    const { base } = await bench()
    const { headers, body } = formOf({ file: Buffer.alloc(3_000_000) })
    expect((await ask('PUT', `${base}/files/a`, headers, body)).status).toBe(401)
  })
})
