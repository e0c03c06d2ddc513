import { buffer } from 'node:stream/consumers'
import { GetObjectCommand, HeadObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpUploadSchema, s3UploadSchema } from '../../../src/contracts/upload.ts'
import { filesOf, site, upload, uploadsWith } from '../../support/uploads.ts'

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }

describe('an upload to an S3-compatible store', () => {
  async function store() {
    const server = await startFauxqs({ port: 0, logger: false })
    onTestFinished(() => server.stop())
    server.createBucket('pictures')
    const settings = { region: 'eu-central-1', endpoint: `http://127.0.0.1:${server.port}`, ...credentials }
    const client = new S3Client({ ...settings, credentials, forcePathStyle: true })
    const read = async (Key: string) => {
      const { Body, ContentType } = await client.send(new GetObjectCommand({ Bucket: 'pictures', Key }))
      return [ContentType, Buffer.from(await Body!.transformToByteArray())] as const
    }
    const head = (Key: string) => client.send(new HeadObjectCommand({ Bucket: 'pictures', Key }))
    return { uploads: uploadsWith({ s3: settings }), read, head }
  }

  it('puts every file under prefix and name, whatever characters they have', async () => {
    const { uploads, read, head } = await store()
    const names = ['a_00001_.png', 'in folder/b #1?.png', 'ü+&=%20.png', '絵 🎨.png']
    const files = await filesOf(Object.fromEntries(names.map((name) => [name, `content of ${name}`])))
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: 'run 1/x-' })
    const urls = await upload(uploads, { s3 }, files)
    expect(urls).toEqual(names.map((name) => `s3://pictures/run 1/x-${name}`))
    for (const url of urls) {
      const [, key] = /^s3:\/\/pictures\/(.*)$/.exec(url)!
      expect((await head(key!)).$metadata.httpStatusCode).toBe(200)
    }
    for (const name of names)
      expect(await read(`run 1/x-${name}`)).toEqual(['image/png', Buffer.from(`content of ${name}`)])
  })

  it('sends large files in parts', async () => {
    const { uploads, read } = await store()
    const large = Buffer.alloc(17 * 2 ** 20, 'easel')
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    await upload(uploads, { s3 }, await filesOf({ 'large.png': large }))
    expect((await read('large.png'))[1].equals(large)).toBe(true)
  })

  it('says what the store said when there is no such bucket, and does not try again', async () => {
    const { uploads } = await store()
    const s3 = s3UploadSchema.parse({ bucket: 'missing', prefix: '' })
    await expect(upload(uploads, { s3 }, await filesOf({ 'a.png': 'a' }))).rejects.toMatchObject({
      code: 'upload-failed',
      message: 's3: a.png: the store answered 404 NoSuchBucket',
    })
  })

  it('tries again while nothing answers, then says so', async () => {
    const settings = { region: 'x', endpoint: 'http://127.0.0.1:9', ...credentials }
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    await expect(
      upload(uploadsWith({ s3: settings, attempts: 2 }), { s3 }, await filesOf({ 'a.png': 'a' })),
    ).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringContaining('s3: a.png: the store could not be reached'),
    })
  })

  it('waits as long as the store asks', async () => {
    const asked: number[] = []
    const endpoint = await site((request, response) => {
      request.resume()
      asked.push(performance.now())
      response.writeHead(asked.length === 1 ? 503 : 200, { etag: '"x"', 'retry-after': '1' }).end()
    })
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    const uploads = uploadsWith({ s3: { region: 'x', endpoint, ...credentials } })
    await upload(uploads, { s3 }, await filesOf({ 'a.png': 'a' }))
    expect(asked[1]! - asked[0]!).toBeGreaterThan(900)
  })

  it('goes to the buckets that the server may use, and to no other', () => {
    const uploads = uploadsWith({ s3: { region: 'x' }, buckets: ['other', 'pic*-eu'] })
    const plan = (bucket: string) => uploads.plan({ s3: s3UploadSchema.parse({ bucket, prefix: '' }) })
    expect(plan('pictures-eu')).toMatchObject({ type: 's3' })
    expect(() => plan('pictures')).toThrow(
      expect.objectContaining({ code: 'url-not-allowed', facts: { location: 's3.bucket' } }),
    )
  })

  it('is refused beforehand when the server knows no store', () => {
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    expect(() => uploadsWith().plan({ s3 })).toThrow(
      expect.objectContaining({
        code: 'upload-not-configured',
        message: 's3: this server has no AWS_REGION',
        facts: { location: 's3' },
      }),
    )
  })

  it.each(['../up', 'a/../b', 'nul\0', 'ü'.repeat(451)])('takes no prefix like %j', (prefix) => {
    expect(s3UploadSchema.safeParse({ bucket: 'pictures', prefix }).success).toBe(false)
  })
})

describe('an upload by PUT', () => {
  it('sends the bytes with their type and length to the prefix and the encoded name', async () => {
    const seen: unknown[] = []
    const url = await site(async (request, response) => {
      const { method, headers } = request
      seen.push([
        method,
        request.url,
        headers['content-type'],
        headers['content-length'],
        String(await buffer(request)),
      ])
      response.writeHead(201).end()
    })
    const http_upload = httpUploadSchema.parse({ url_prefix: `${url}/base//` })
    const urls = await upload(uploadsWith(), { http_upload }, await filesOf({ 'in folder/b #1?.png': 'bytes' }))
    expect(urls).toEqual([`${url}/base/in%20folder/b%20%231%3F.png`])
    expect(seen).toEqual([['PUT', '/base/in%20folder/b%20%231%3F.png', 'image/png', '5', 'bytes']])
  })

  it.each([[503], [429], [408]])('is tried again after status %d', async (status) => {
    let asked = 0
    const url = await site((request, response) => {
      request.resume()
      response.writeHead(++asked < 3 ? status : 200, { 'retry-after': '0' }).end()
    })
    await upload(
      uploadsWith(),
      { http_upload: httpUploadSchema.parse({ url_prefix: url }) },
      await filesOf({ 'a.png': 'a' }),
    )
    expect(asked).toBe(3)
  })

  it.each([[403], [302]])('ends at once with status %d, without following it', async (status) => {
    let asked = 0
    const url = await site((request, response) => {
      asked += 1
      request.resume()
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const http_upload = httpUploadSchema.parse({ url_prefix: url })
    const uploading = upload(uploadsWith(), { http_upload }, await filesOf({ 'a.png': 'a' }))
    await expect(uploading).rejects.toMatchObject({
      code: 'upload-failed',
      message: `http_upload: a.png: the store answered ${status}`,
    })
    expect(asked).toBe(1)
  })

  it('gives up on a store that hangs', async () => {
    const url = await site(() => undefined)
    const uploads = uploadsWith({ attempts: 2, timeoutMs: 150 })
    const http_upload = httpUploadSchema.parse({ url_prefix: url })
    await expect(upload(uploads, { http_upload }, await filesOf({ 'a.png': 'a' }))).rejects.toMatchObject({
      message: 'http_upload: a.png: the store did not take the file within 0.15 s',
    })
  })

  it.each(['http://127.0.0.1:8099/', 'http://[::ffff:10.0.0.1]/x', 'http://169.254.169.254/', 'http://0x7f.1/'])(
    'is refused beforehand where it would go to an address that is not public: %s',
    (url_prefix) => {
      expect(() => uploadsWith().plan({ http_upload: httpUploadSchema.parse({ url_prefix }) })).toThrow(
        expect.objectContaining({ code: 'url-not-allowed', facts: { location: 'http_upload.url_prefix' } }),
      )
    },
  )

  it('fails at once where a name leads to an address that is not public', async () => {
    let asked = 0
    const url = new URL(await site(() => (asked += 1)))
    const http_upload = httpUploadSchema.parse({ url_prefix: `http://localhost:${url.port}/` })
    const told: unknown[] = []
    const files = await filesOf({ 'a.png': 'a' })
    await expect(upload(uploadsWith(), { http_upload }, files, (...of) => told.push(of))).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringContaining('not public'),
    })
    expect([told.length, asked]).toEqual([1, 0])
  })

  it.each(['ftp://host/', 'nowhere', 'http://name:password@host/', 'http://name@host/'])(
    'takes no prefix like %s',
    (url_prefix) => expect(httpUploadSchema.safeParse({ url_prefix }).success).toBe(false),
  )

  it('stops when the job does', async () => {
    let asked = 0
    const url = await site(() => (asked += 1))
    const job = new AbortController()
    const http_upload = httpUploadSchema.parse({ url_prefix: url })
    const told: unknown[] = []
    const uploading = uploadsWith()
      .plan({ http_upload })!
      .run(await filesOf({ 'a.png': 'a' }), job.signal, (...of) => told.push(of))
    await expect.poll(() => asked).toBe(1)
    job.abort(new Error('the client went away'))
    await expect(uploading).rejects.toThrow('the client went away')
    expect(told).toEqual([])
  })
})
