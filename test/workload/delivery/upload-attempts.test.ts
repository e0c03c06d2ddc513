import { rm } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Auth } from '../../../src/contracts/credentials.ts'
import {
  azureUploadSchema,
  httpUploadSchema,
  s3UploadSchema,
  storageUploadSchema,
} from '../../../src/contracts/upload.ts'
import type { UploadRequest } from '../../../src/workload/delivery/uploads.ts'
import { filesOf, site, upload, uploadsWith } from '../../support/uploads.ts'

const at = (url_prefix: string) => ({ http_upload: httpUploadSchema.parse({ url_prefix }) })

describe('an upload', () => {
  it('goes to the first place that the request names', () => {
    const uploads = uploadsWith({
      s3: { region: 'x' },
      azure: { account: 'easel', key: 'a' },
      storage: { url: 'http://127.0.0.1', organization: 'acme' },
    })
    const blocks: UploadRequest = {
      storage: storageUploadSchema.parse({ async: true }),
      ...at('http://127.0.0.2'),
      azure_blob_upload: azureUploadSchema.parse({ container: 'pictures' }),
      s3: s3UploadSchema.parse({ bucket: 'pictures', prefix: '' }),
    }
    const { s3: _s3, ...three } = blocks
    const { azure_blob_upload: _azure, ...two } = three
    const { http_upload: _http, ...one } = two
    const planned = [blocks, three, two, one, {}].map((request) => uploads.plan(request))
    expect(planned.map((plan) => plan && [plan.type, plan.async])).toEqual([
      ['s3', false],
      ['azure_blob_upload', false],
      ['http_upload', false],
      ['storage', true],
      undefined,
    ])
  })

  it('tells of every attempt, and of why it failed', async () => {
    let asked = 0
    const url = await site((request, response) => {
      request.resume()
      response.writeHead([503, 429, 200][asked++]!, { 'retry-after': '0' }).end()
    })
    const told: unknown[] = []
    await upload(uploadsWith(), at(url), await filesOf({ 'a.png': 'a' }), (...of) => told.push(of))
    expect(told).toEqual([
      ['failed', 'a.png: the store answered 503'],
      ['failed', 'a.png: the store answered 429'],
      ['ok', undefined],
    ])
  })

  it('gives the URLs in the order of the files, whichever is there first', async () => {
    const url = await site(async (request, response) => {
      await buffer(request)
      await pause(request.url === '/0.png' ? 100 : 0)
      response.end()
    })
    const names = Array.from({ length: 9 }, (_, i) => `${i}.png`)
    const files = await filesOf(Object.fromEntries(names.map((name) => [name, name])))
    expect(await upload(uploadsWith(), at(url), files)).toEqual(names.map((name) => `${url}/${name}`))
  })

  it('gives the others up when one file has failed for good, and keeps them all', async () => {
    let asked = 0
    const url = await site((request, response) => {
      asked += 1
      request.resume()
      if (request.url === '/0.png') response.writeHead(403).end() // and the others hang
    })
    const names = Array.from({ length: 9 }, (_, i) => `${i}.png`)
    const files = await filesOf(Object.fromEntries(names.map((name) => [name, name])))
    await expect(upload(uploadsWith(), at(url), files)).rejects.toMatchObject({
      message: 'http_upload: 0.png: the store answered 403',
    })
    expect(asked).toBeLessThanOrEqual(4)
    await expect(Promise.all(files.map(({ path }) => rm(path)))).resolves.toHaveLength(9)
  })

  it('fails at once when the file is gone', async () => {
    let asked = 0
    const url = await site(() => (asked += 1))
    const files = await filesOf({ 'a.png': 'a' })
    await rm(files[0]!.path)
    await expect(upload(uploadsWith(), at(url), files)).rejects.toMatchObject({
      code: 'upload-failed',
      message: 'http_upload: a.png: the file cannot be read: ENOENT',
    })
    expect(asked).toBe(0)
  })

  it('to a place where another is on its way begins when that one has ended, and replaces it', async () => {
    const stored = new Map<string, string>()
    const under = new Map<string, number>()
    let [asked, most] = [0, 0]
    const url = await site(async (request, response) => {
      const path = request.url!
      under.set(path, (under.get(path) ?? 0) + 1)
      most = Math.max(most, under.get(path)!)
      const content = String(await buffer(request))
      const first = ++asked === 1
      await pause(first ? 100 : 10)
      if (!first) stored.set(path, content) // the first is tried again
      under.set(path, under.get(path)! - 1)
      response.writeHead(first ? 500 : 200).end()
    })
    const uploads = uploadsWith()
    const contents = await Promise.all(['one', 'two', 'three'].map((content) => filesOf({ 'a.png': content })))
    await Promise.all(contents.map((files) => upload(uploads, at(url), files)))
    expect([most, asked, [...stored.values()]]).toEqual([1, 4, ['three']])
  })

  it('waits for its turn no longer than its job', async () => {
    let asked = 0
    const url = await site(() => (asked += 1))
    const uploads = uploadsWith()
    const [first, second] = [new AbortController(), new AbortController()]
    const run = async (job: AbortController) => uploads.plan(at(url))!.run(await filesOf({ 'a.png': 'a' }), job.signal)
    const hanging = run(first)
    await expect.poll(() => asked).toBe(1)
    const waiting = run(second)
    second.abort(new Error('the second was cancelled'))
    await expect(waiting).rejects.toThrow('the second was cancelled')
    first.abort(new Error('the first was cancelled'))
    await expect(hanging).rejects.toThrow('the first was cancelled')
    expect(asked).toBe(1)
  })
})

describe('secrets of an upload', () => {
  const secrets = [
    's3cretA',
    's3cretB',
    's3cretC',
    's3cretD',
    's3cretE',
    's3cretF',
    's3cretG',
    's3cretH',
    's3cretI',
  ] as const
  const [access, secretKey, session, azureKey, sas, apiKey, jwt, own, theirs] = secrets
  /** A store that repeats all it was told and does not take it. */
  const parrot = (status: number | 'drop') =>
    site(async (request, response) => {
      const body = await buffer(request)
      if (status === 'drop') return void request.socket.destroy()
      const told = JSON.stringify([request.url, request.headers, body.toString('latin1')])
      const xml = `<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>${told}</AWSAccessKeyId><Message>${told}</Message></Error>`
      const headers = { 'x-told': encodeURIComponent(told) }
      response.writeHead(status, headers).end(request.headers['x-amz-date'] ? xml : told)
    })

  it.each([[403], [503], [302], ['drop']] as const)('are in no error when the store answers %s', async (status) => {
    const url = await parrot(status)
    const setup = {
      s3: { region: 'x', endpoint: url, accessKeyId: access, secretAccessKey: secretKey, sessionToken: session },
      authHeader: { name: 'X-Own', value: own, hosts: ['*'] },
      token: async () => jwt,
      attempts: 2,
    }
    const connection = `AccountName=a;BlobEndpoint=${url}`
    const storage = { url, organization: 'acme' }
    const byKey = { ...setup, azure: { connectionString: `${connection};AccountKey=${azureKey}` } }
    const bySas = { ...setup, azure: { connectionString: `${connection};SharedAccessSignature=sig=${sas}` } }
    const s3 = s3UploadSchema.parse({ bucket: 'pictures', prefix: '' })
    const azure = { azure_blob_upload: azureUploadSchema.parse({ container: 'pictures' }) }
    const stored = { storage: storageUploadSchema.parse({}) }
    const auths: readonly Auth[] = [
      { type: 'bearer', token: theirs },
      { type: 'basic', username: theirs, password: theirs },
      { type: 'header', header_name: 'x-key', header_value: theirs },
      { type: 'query', query_param: 'sig', query_value: theirs },
    ]
    const s3Auth = { type: 's3', access_key_id: theirs, secret_access_key: theirs, endpoint: url } as const
    const requests: readonly (readonly [object, UploadRequest])[] = [
      [setup, { s3 }],
      [setup, { s3, credentials: [{ url_pattern: '**', auth: s3Auth }] }],
      [setup, at(url)],
      ...auths.map(
        (auth) => [setup, { ...at(url), credentials: [{ url_pattern: '**', auth }] }] satisfies [object, UploadRequest],
      ),
      [byKey, azure],
      [bySas, azure],
      [{ ...setup, storage }, stored],
      [{ ...setup, storage: { ...storage, apiKey } }, stored],
    ]
    const files = await filesOf({ 'a.png': 'a' })
    const outcomes = requests.map(async ([setup, request]) => {
      const told: unknown[] = []
      const error: unknown = await upload(uploadsWith(setup), request, files, (...of) => told.push(of)).catch((e) => e)
      expect(error).toMatchObject({ code: 'upload-failed' })
      return inspect([told, error], { depth: 20, showHidden: true })
    })
    const text = (await Promise.all(outcomes)).join('\n')
    for (const secret of [
      ...secrets,
      encodeURIComponent(azureKey),
      Buffer.from(`${theirs}:${theirs}`).toString('base64'),
    ])
      expect(text).not.toContain(secret)
  })
})
