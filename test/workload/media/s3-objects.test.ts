import { once } from 'node:events'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { startFauxqs } from 'fauxqs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Auth } from '../../../src/contracts/credentials.ts'
import { s3Address } from '../../../src/workload/media/s3-address.ts'
import { emptyFolder } from '../../support/folder.ts'
import { fetching, storedObjects } from '../../support/media.ts'
import { listen } from '../../support/site.ts'

const { signal } = new AbortController()
const asker = (changes: Partial<Auth & { type: 's3' }> = {}) =>
  ({ type: 's3', access_key_id: 'asker', secret_access_key: 'planted-secret', ...changes }) as const
const own = { accessKeyId: 'server', secretAccessKey: 'planted-secret' }

/** A store with these objects in the buckets `open` and `closed`. */
async function store(objects: Readonly<Record<string, string>>) {
  const server = await startFauxqs({ port: 0, logger: false })
  onTestFinished(() => server.stop())
  const endpoint = `http://127.0.0.2:${server.port}`
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  const client = new S3Client({ region: 'us-east-1', endpoint, credentials, forcePathStyle: true })
  for (const Bucket of ['open', 'closed']) {
    server.createBucket(Bucket)
    for (const [Key, Body] of Object.entries(objects)) await client.send(new PutObjectCommand({ Bucket, Key, Body }))
  }
  client.destroy()
  return endpoint
}

describe('an S3 URL', () => {
  it.each([
    ['s3://bucket/a/b.png', 'bucket', 'a/b.png'],
    ['S3://my.bucket-1/a b#c?d=%20ü', 'my.bucket-1', 'a b#c?d=%20ü'],
    ['s3://bucket//a', 'bucket', '/a'],
    ['s3://bucket/a\nb', 'bucket', 'a\nb'],
  ])('is split at the first slash behind the bucket: %s', (url, bucket, key) => {
    expect(s3Address(url)).toEqual({ bucket, key })
  })

  it.each([
    's3://',
    's3://b/a',
    's3://bucket',
    's3://bucket/',
    's3://Bucket/a',
    's3://u:p@bucket/a',
    's3://bucket/a/../../b/c',
  ])('has a bucket and a key: %s', (url) => {
    expect(() => s3Address(url)).toThrow('an S3 URL reads s3://<bucket>/<key>')
  })
})

describe('an object of a store', () => {
  it('is read with the identity of the server from the buckets that it serves, by its literal key', async () => {
    const keys = ['a.png', 'a b#c?d=%20ü.png', '/a']
    const endpoint = await store(Object.fromEntries(keys.map((key) => [key, key])))
    const objects = storedObjects({ ...own, endpoint }, ['op*'])
    for (const key of keys) {
      const { body, bytes, etag } = await objects.open(`s3://open/${key}`, undefined, signal)
      expect([await text(body), bytes]).toEqual([key, Buffer.byteLength(key)])
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    }
    await expect(objects.open('s3://closed/a.png', undefined, signal)).rejects.toMatchObject({
      code: 'url-not-allowed',
      message: 'the bucket is not in S3_ALLOWED_BUCKETS; send credentials of the type s3',
    })
    await expect(storedObjects({ ...own, endpoint }).open('s3://open/a.png', undefined, signal)).rejects.toMatchObject({
      code: 'url-not-allowed',
    })
  })

  it('is read with the identity of who asks, which is used alone', async () => {
    const endpoint = await store({ 'a.png': 'picture' })
    const there = asker({ endpoint, region: 'eu-west-3' })
    expect(await text((await storedObjects().open('s3://closed/a.png', there, signal)).body)).toBe('picture')

    const seen: (string | undefined)[] = []
    const site = await listen(({ headers }, response) => {
      seen.push(headers.authorization, headers['x-amz-security-token'] as string | undefined)
      response.end('x')
    })
    const objects = storedObjects({ ...own, sessionToken: 'server-session', endpoint: site.url }, ['*'])
    const at = { endpoint: site.url }
    await text((await objects.open('s3://open/a', asker({ ...at, region: 'eu-west-3' }), signal)).body)
    await text((await objects.open('s3://open/a', asker({ ...at, session_token: 'session' }), signal)).body)
    await expect(objects.open('s3://open/a', asker(), signal)).rejects.toThrow() // Amazon's, not this server's
    await text((await objects.open('s3://open/a', undefined, signal)).body)
    expect(seen).toEqual([
      ...[expect.stringMatching(/Credential=asker\/\d+\/eu-west-3\/s3/), undefined],
      ...[expect.stringMatching(/Credential=asker\//), 'session'],
      ...[expect.stringMatching(/Credential=server\//), 'server-session'],
    ])
    for (const auth of [{ type: 'bearer', token: 't' }, asker({ region: 'evil.test/' })] as const)
      await expect(objects.open('s3://open/a', auth, signal)).rejects.toMatchObject({ code: 'url-not-allowed' })
  })

  it.each([
    'http://127.0.0.1:9/',
    'http://[::1]',
    'http://2130706433',
    'http://169.254.169.254',
    'ftp://127.0.0.2',
    'http://localhost',
  ])('is not asked of %s', async (endpoint) => {
    await expect(storedObjects().open('s3://open/a', asker({ endpoint }), signal)).rejects.toMatchObject({
      code: 'url-not-allowed',
    })
  })

  it('that cannot be had says the status and the word of the store, and nothing of who asked', async () => {
    const endpoint = await store({})
    const failure = await storedObjects({ ...own, endpoint }, ['*'])
      .open('s3://open/none', undefined, signal)
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({
      code: 'media-unavailable',
      message: 'the URL answered with status 404 NoSuchKey',
      cause: undefined,
    })
    const refusing = await listen((_, response) => {
      const words = '<Code>InvalidAccessKeyId</Code><AWSAccessKeyId>asker</AWSAccessKeyId>'
      response.writeHead(403, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?><Error>${words}</Error>`)
    })
    await expect(storedObjects().open('s3://open/a', asker({ endpoint: refusing.url }), signal)).rejects.toMatchObject({
      message: 'the URL answered with status 403 InvalidAccessKeyId',
      cause: undefined,
    })
  })

  it('that is not read, or breaks off, or is not wanted any more ends the connection and nothing else', async () => {
    const { url: endpoint } = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '1000', etag: '"1"' })
      if (request.url?.includes('/broken')) response.write('x', () => response.destroy())
      else response.write('x')
    })
    const objects = storedObjects()
    const auth = asker({ endpoint })
    const ignored = await objects.open('s3://open/a', auth, signal)
    expect([ignored.bytes, ignored.etag]).toEqual([1000, '"1"'])
    ignored.close()
    const broken = await objects.open('s3://open/broken', auth, signal)
    await expect(text(broken.body)).rejects.toThrow('the URL could not be read: ECONNRESET')
    const stop = new AbortController()
    const stopped = await objects.open('s3://open/a', auth, stop.signal)
    const reading = text(stopped.body)
    stop.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    await expect(objects.open('s3://open/a', auth, AbortSignal.abort(new Error('never')))).rejects.toThrow('never')
  })

  it('that cannot be reached says why', async () => {
    const closed = createServer().listen(0, '127.0.0.2')
    await once(closed, 'listening')
    const { port } = closed.address() as { port: number }
    closed.close()
    const auth = asker({ endpoint: `http://127.0.0.2:${port}` })
    await expect(storedObjects().open('s3://open/a', auth, signal)).rejects.toMatchObject({
      name: 'PassingFailure',
      message: 'the URL could not be read: ECONNREFUSED',
    })
  })
})

describe('a picture by S3 URL', () => {
  it('is read again only when it has changed, and each time as who asks', async () => {
    const folder = await emptyFolder()
    const log: string[] = []
    let [content, sent] = ['picture', 0]
    const { url: endpoint } = await listen(({ headers }, response) => {
      const [, who = ''] = /Credential=(\w+)/.exec(headers.authorization ?? '') ?? []
      log.push(who)
      if (who === 'stranger') return response.writeHead(403).end()
      return response.setHeader('etag', `"${content}"`).end(content, () => sent++)
    })
    const as = (access_key_id: string, at = endpoint) => [
      { url_pattern: 's3://open/**', auth: asker({ access_key_id, endpoint: at }) },
    ]
    const media = fetching({ folder })
    const fetch = async (who: string, at?: string) => String(await media.fetch('s3://open/a.png', as(who, at), signal))
    expect([await fetch('a'), await fetch('b')]).toEqual(['picture', 'picture'])
    await expect(fetch('stranger')).rejects.toMatchObject({ code: 'media-unavailable' })
    content = 'another'
    expect(await fetch('a')).toBe('another')
    expect(log).toEqual(['a', 'b', 'stranger', 'a'])

    const forged = await listen((_, response) => response.setHeader('etag', '"another"').end('forged'))
    expect(await fetch('a', forged.url)).toBe('forged')
    await expect(fetching({ maxBytes: 3 }).fetch('s3://open/a.png', as('a'), signal)).rejects.toMatchObject({
      code: 'media-too-large',
    })
    expect(sent).toBeGreaterThan(1)
  })
})
