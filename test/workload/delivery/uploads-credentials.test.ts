import type { IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { type Auth, credentialsSchema } from '../../../src/contracts/credentials.ts'
import { httpUploadSchema, s3UploadSchema } from '../../../src/contracts/upload.ts'
import type { Lookup } from '../../../src/workload/media/address-guard.ts'
import { filesOf, site, upload, uploadsWith } from '../../support/uploads.ts'

interface Asked {
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** A store that takes everything, and what it was asked. */
async function store() {
  const asked: Asked[] = []
  const url = await site(async (request, response) => {
    await buffer(request)
    asked.push({ url: request.url!, headers: request.headers })
    response.writeHead(200, { etag: '"x"' }).end('<R><UploadId>1</UploadId><ETag>x</ETag></R>')
  })
  return { url, asked }
}

const entry = (url_pattern: string, auth: Auth) => credentialsSchema.parse([{ url_pattern, auth }])

describe('an upload by PUT shows who asks', () => {
  const put = async (auth: Auth, options: { readonly pattern?: string; readonly query?: string } = {}) => {
    const { url, asked } = await store()
    const { host } = new URL(url)
    const authHeader = { name: 'X-Own', value: 'own', hosts: [host] }
    const http_upload = httpUploadSchema.parse({ url_prefix: `${url}/in${options.query ?? ''}` })
    const credentials = entry(options.pattern ?? `http://${host}/**`, auth)
    const files = await filesOf({ 'a b.png': 'a' })
    const urls = await upload(uploadsWith({ authHeader }), { http_upload, credentials }, files)
    return { urls, asked: asked[0]!, url }
  }

  it.each<[Auth, object]>([
    [{ type: 'bearer', token: 'its token' }, { authorization: 'Bearer its token' }],
    [{ type: 'basic', username: 'name', password: 'pass' }, { authorization: 'Basic bmFtZTpwYXNz' }],
    [{ type: 'header', header_name: 'X-Key', header_value: 'value' }, { 'x-key': 'value' }],
  ])('with %j, and with nothing of its own', async (auth, headers) => {
    const { asked } = await put(auth)
    expect(asked.headers).toMatchObject({ ...headers, 'content-type': 'image/png' })
    expect(asked.headers).not.toHaveProperty('x-own')
  })

  it('with a parameter in the query, which no URL in the answer has', async () => {
    const { urls, asked, url } = await put({ type: 'query', query_param: 'sig', query_value: 'a&b' })
    expect(asked.url).toBe('/in/a%20b.png?sig=a%26b')
    expect(urls).toEqual([`${url}/in/a%20b.png`])
  })

  it('and with the header of this server where no entry matches', async () => {
    const { asked } = await put({ type: 'bearer', token: 'its token' }, { pattern: 'https://elsewhere/**' })
    expect(asked.headers).toMatchObject({ 'x-own': 'own' })
    expect(asked.headers).not.toHaveProperty('authorization')
  })

  it.each([
    [['127.0.0.2'], true],
    [['example.com', '127.*'], true],
    [['127.0.0.2:1'], false],
    [['127.0.0', 'x127.0.0.2'], false],
    [[], false],
  ])('but sends that header to listed hosts only: %j', async (hosts, shown) => {
    const { url, asked } = await store()
    const uploads = uploadsWith({ authHeader: { name: 'X-Own', value: 'own', hosts } })
    await upload(uploads, { http_upload: httpUploadSchema.parse({ url_prefix: url }) }, await filesOf({ 'a.png': 'a' }))
    expect('x-own' in asked[0]!.headers).toBe(shown)
  })
})

describe('an upload to a store that its client has the keys of', () => {
  const s3 = s3UploadSchema.parse({ bucket: 'theirs', prefix: 'run/' })
  const keys = { type: 's3', access_key_id: 'THEIRKEY', secret_access_key: 'their secret' } as const
  const own = { region: 'own-region', endpoint: 'http://127.0.0.1:9', accessKeyId: 'OWNKEY', secretAccessKey: 'own' }
  const at = (endpoint: string) => ({ ...keys, endpoint, session_token: 'their session', region: 'their-region' })

  it.each([{}, own])('uses them and nothing of this server, set up with %j', async (settings) => {
    const { url, asked } = await store()
    const credentials = entry('s3://theirs/**', at(url))
    const uploads = uploadsWith({ s3: settings, buckets: ['ours'] })
    const files = await filesOf({ 'a.png': 'a', 'sub/b.png': 'b' })
    expect(await upload(uploads, { s3, credentials }, files)).toEqual([
      's3://theirs/run/a.png',
      's3://theirs/run/sub/b.png',
    ])
    expect(asked.map(({ url }) => url.split('?')[0]).sort()).toEqual(['/theirs/run/a.png', '/theirs/run/sub/b.png'])
    for (const { headers } of asked) {
      expect(headers.authorization).toMatch(/Credential=THEIRKEY\/\d+\/their-region\/s3\//)
      expect(headers['x-amz-security-token']).toBe('their session')
    }
  })

  it.each([
    [entry('s3://other/**', keys)],
    [entry('s3://theirs/*', keys)],
    [entry('**', { type: 'bearer', token: 'token' })],
  ])('is that of this server where no entry gives keys for it: %j', (credentials) => {
    expect(() => uploadsWith().plan({ s3, credentials })).toThrow(
      expect.objectContaining({ code: 'upload-not-configured' }),
    )
    expect(() => uploadsWith({ s3: own, buckets: ['ours'] }).plan({ s3, credentials })).toThrow(
      expect.objectContaining({ code: 'url-not-allowed', facts: { location: 's3.bucket' } }),
    )
  })

  it.each(['http://127.0.0.1:9000', 'http://[::1]', 'http://169.254.169.254', 'http://2130706433', 'ftp://8.8.8.8'])(
    'is refused beforehand at %s',
    (endpoint) => {
      const credentials = [...entry('s3://other/*', keys), ...entry('s3://theirs/**', at(endpoint))]
      expect(() => uploadsWith().plan({ s3, credentials })).toThrow(
        expect.objectContaining({ code: 'url-not-allowed', facts: { location: 'credentials.1.auth.endpoint' } }),
      )
    },
  )

  it('is refused beforehand for a region that is none', () => {
    const credentials = entry('s3://theirs/**', { ...keys, region: 'x.example.com/#' })
    expect(() => uploadsWith().plan({ s3, credentials })).toThrow(
      expect.objectContaining({ code: 'invalid-request', facts: { location: 'credentials.0.auth.region' } }),
    )
  })

  it.each([
    ['small', 1],
    ['in parts', 9 * 2 ** 20],
  ])('connects to no address behind a name that is not public (%s)', async (_, bytes) => {
    const { url, asked } = await store()
    const credentials = entry('s3://theirs/**', at(`http://localhost:${new URL(url).port}`))
    const told: unknown[] = []
    const files = await filesOf({ 'a.png': Buffer.alloc(bytes) })
    const uploading = upload(uploadsWith(), { s3, credentials }, files, (...of) => told.push(of))
    await expect(uploading).rejects.toMatchObject({
      code: 'upload-failed',
      message: expect.stringMatching(/^s3: a\.png: .*not public/),
    })
    expect([told.length, asked]).toEqual([1, []])
  })

  it('connects to the address that was checked, and asks for the name once each time', async () => {
    const { url, asked } = await store()
    const answers = ['127.0.0.2', '127.0.0.1']
    const lookup: Lookup = (_host, _options, done) => done(null, [{ address: answers.shift()!, family: 4 }])
    const credentials = entry('s3://theirs/**', at(`http://store.test:${new URL(url).port}`))
    await upload(uploadsWith({ lookup }), { s3, credentials }, await filesOf({ 'a.png': 'a' }))
    expect([asked.length, answers]).toEqual([1, ['127.0.0.1']])
  })
})
