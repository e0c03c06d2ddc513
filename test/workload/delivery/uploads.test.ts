import { lookup } from 'node:dns'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { httpUploadSchema, s3UploadSchema } from '../../../src/contracts/upload.ts'
import type { OutputFile } from '../../../src/workload/delivery/target.ts'
import { httpUploadTarget } from '../../../src/workload/delivery/targets/http-upload.ts'
import { s3Target } from '../../../src/workload/delivery/targets/s3.ts'
import { createUploads, type UploadRequest } from '../../../src/workload/delivery/uploads.ts'
import { addressRules } from '../../../src/workload/media/address-rules.ts'
import { createOutbound } from '../../../src/workload/media/outbound.ts'
import { emptyFolder } from '../../support/folder.ts'

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
const nobody = {
  region: undefined,
  endpoint: undefined,
  accessKeyId: undefined,
  secretAccessKey: undefined,
  sessionToken: undefined,
}

/** Files of these contents, by name. */
async function filesOf(contents: Readonly<Record<string, string | Buffer>>): Promise<readonly OutputFile[]> {
  const folder = await emptyFolder()
  return Promise.all(
    Object.entries(contents).map(async ([filename, content], i) => {
      const path = join(folder, `${i}.png`)
      await writeFile(path, content)
      return { filename, path, bytes: content.length, mime: 'image/png' }
    }),
  )
}

const uploadsWith = (settings: Partial<typeof nobody | Record<string, string>> = {}, attempts = 3, timeoutMs = 5000) =>
  createUploads(
    {
      s3: s3Target({ ...nobody, ...settings }),
      http: httpUploadTarget(createOutbound(addressRules(['127.0.0.2']), lookup).send),
    },
    { attempts, timeoutMs, random: () => 0 },
  )
const { signal } = new AbortController()
const run = async (request: UploadRequest, files: readonly OutputFile[], uploads = uploadsWith()) =>
  uploads.plan(request)!.run(files, signal)

async function site(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '0.0.0.0')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.2:${(server.address() as AddressInfo).port}`
}

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
    return { uploads: uploadsWith(settings), read }
  }

  it('puts every file under prefix and name, whatever characters they have', async () => {
    const { uploads, read } = await store()
    const names = ['a_00001_.png', 'in folder/b #1?.png', 'ü+&=%20.png']
    const files = await filesOf(Object.fromEntries(names.map((name) => [name, `content of ${name}`])))
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: 'run 1/x-' })
    const urls = await run({ s3 }, files, uploads)
    expect(urls).toEqual(names.map((name) => `s3://pictures/run 1/x-${name}`))
    for (const name of names)
      expect(await read(`run 1/x-${name}`)).toEqual(['image/png', Buffer.from(`content of ${name}`)])
  })

  it('sends large files in parts', async () => {
    const { uploads, read } = await store()
    const large = Buffer.alloc(40 * 2 ** 20, 'easel')
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    await run({ s3 }, await filesOf({ 'large.png': large }), uploads)
    expect((await read('large.png'))[1].equals(large)).toBe(true)
  })

  it('says what the store said when there is no such bucket, and does not try again', async () => {
    const { uploads } = await store()
    const s3 = s3UploadSchema.parse({ bucket: 'missing', prefix: '' })
    await expect(run({ s3 }, await filesOf({ 'a.png': 'a' }), uploads)).rejects.toMatchObject({
      code: 'upload-failed',
      message: 's3: a.png: the store answered 404 NoSuchBucket',
    })
  })

  it('tries again while nothing answers, then says so', async () => {
    const settings = { region: 'x', endpoint: 'http://127.0.0.1:9', ...credentials }
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    await expect(run({ s3 }, await filesOf({ 'a.png': 'a' }), uploadsWith(settings, 2))).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringContaining('s3: a.png: the store could not be reached'),
    })
  })

  it('is refused beforehand when the server knows no store', () => {
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    expect(() => uploadsWith().plan({ s3 })).toThrow(
      expect.objectContaining({ code: 'upload-not-configured', message: 's3: this server has no AWS_REGION' }),
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
    const urls = await run({ http_upload }, await filesOf({ 'in folder/b #1?.png': 'bytes' }))
    expect(urls).toEqual([`${url}/base/in%20folder/b%20%231%3F.png`])
    expect(seen).toEqual([['PUT', '/base/in%20folder/b%20%231%3F.png', 'image/png', '5', 'bytes']])
  })

  it.each([[503], [429], [408]])('is tried again after status %d', async (status) => {
    let asked = 0
    const url = await site((request, response) => {
      request.resume()
      response.writeHead(++asked < 3 ? status : 200, { 'retry-after': '0' }).end()
    })
    await run({ http_upload: httpUploadSchema.parse({ url_prefix: url }) }, await filesOf({ 'a.png': 'a' }))
    expect(asked).toBe(3)
  })

  it.each([[403], [302]])('ends at once with status %d, without following it', async (status) => {
    let asked = 0
    const url = await site((request, response) => {
      asked += 1
      request.resume()
      response.writeHead(status, { location: '/elsewhere' }).end()
    })
    const upload = run({ http_upload: httpUploadSchema.parse({ url_prefix: url }) }, await filesOf({ 'a.png': 'a' }))
    await expect(upload).rejects.toMatchObject({
      code: 'upload-failed',
      message: `http_upload: a.png: the store answered ${status}`,
    })
    expect(asked).toBe(1)
  })

  it('gives up on a store that hangs', async () => {
    const url = await site(() => undefined)
    const uploads = uploadsWith({}, 2, 150)
    const http_upload = httpUploadSchema.parse({ url_prefix: url })
    await expect(run({ http_upload }, await filesOf({ 'a.png': 'a' }), uploads)).rejects.toMatchObject({
      message: 'http_upload: a.png: the store did not take the file within 0.15 s',
    })
  })

  it('goes nowhere that is not public', async () => {
    const http_upload = httpUploadSchema.parse({ url_prefix: 'http://127.0.0.1:8099/' })
    await expect(run({ http_upload }, await filesOf({ 'a.png': 'a' }))).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringContaining('not public'),
    })
  })

  it('stops when the job does', async () => {
    const url = await site(() => undefined)
    const job = new AbortController()
    const http_upload = httpUploadSchema.parse({ url_prefix: url })
    const upload = uploadsWith()
      .plan({ http_upload })!
      .run(await filesOf({ 'a.png': 'a' }), job.signal)
    setTimeout(() => job.abort(new Error('the client went away')), 50)
    await expect(upload).rejects.toThrow('the client went away')
  })
})
