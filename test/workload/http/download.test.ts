import { EventEmitter, once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { downloadRecordSchema } from '../../../src/contracts/download.ts'
import { WorkloadError } from '../../../src/workload/base/errors.ts'
import { jsonBody } from '../../../src/workload/http/json-body.ts'
import { problemHandler } from '../../../src/workload/http/problem-handler.ts'
import { assignRequestId } from '../../../src/workload/http/request-id.ts'
import { downloadRoute } from '../../../src/workload/http/routes/download.ts'
import { downloadsRoute } from '../../../src/workload/http/routes/downloads.ts'
import { createDownloads } from '../../../src/workload/jobs/downloads.ts'
import type { FetchLimits } from '../../../src/workload/media/fetch-file.ts'
import { createModelSources } from '../../../src/workload/media/model-source.ts'
import { breakOffAfter, fetchHere, quiet, serveFile, startSite } from '../../support/file-site.ts'
import { emptyFolder } from '../../support/folder.ts'

const file = Buffer.alloc(5000, 'm')

/** The two routes over a folder of models that has `checkpoints` and `extra`. */
async function serving(limits: Partial<FetchLimits> = {}) {
  const modelDir = await emptyFolder()
  for (const name of ['checkpoints', 'extra']) await mkdir(join(modelDir, name))
  const downloads = createDownloads({
    ...{ modelDir, folderNames: ['checkpoints', 'loras'], fetchFile: fetchHere(limits), now: Date.now, ...quiet },
    sources: createModelSources(modelDir),
    check(url) {
      if (url.includes('//10.')) throw new WorkloadError('url-not-allowed', 'the URL leads to a private address')
    },
  })
  const app = express().use(assignRequestId, downloadRoute(downloads, jsonBody(1e6)), downloadsRoute(downloads))
  const server = createServer(app.use(problemHandler(quiet.log))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await downloads.close()
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const post = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${origin}/download`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, location: answer.headers.get('location'), body: (await answer.json()) as Body }
  }
  const view = async (path: string) => downloadRecordSchema.parse(await (await fetch(origin + path)).json())
  return { modelDir, origin, post, view, downloads }
}

interface Body {
  readonly id: string
  readonly code: string
  readonly location: string
  readonly errors: Record<string, string[]>
}

describe('POST /download', () => {
  it('brings a file into a folder of models and answers when it is there', async () => {
    const site = await startSite(serveFile(file))
    const { post, modelDir } = await serving()
    const asked = { url: `${site.origin}/my%20model.safetensors`, model_type: 'loras' }
    const { status, body } = await post({ ...asked, wait: true })
    expect([status, body]).toEqual([
      200,
      { ...asked, filename: 'my model.safetensors', status: 'completed', size: 5000, duration: expect.any(Number) },
    ])
    expect(file.equals(await readFile(join(modelDir, 'loras/my model.safetensors')))).toBe(true)
  })

  it('answers at once without wait, and tells how far it is', async () => {
    let send = () => undefined as unknown
    const site = await startSite((_, response) => {
      response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, 1000))
      send = () => response.end(file.subarray(1000))
    })
    const { post, view } = await serving()
    const asked = { url: `${site.origin}/a?sig=secret`, model_type: 'extra', filename: 'a.sft' }
    const { status, location, body } = await post(asked)
    expect([status, location, body]).toEqual([
      202,
      `/downloads/${body.id}`,
      { ...asked, status: 'started', id: body.id },
    ])
    await expect.poll(() => view(location!)).toMatchObject({ status: 'started', received: 1000 })
    send()
    await expect
      .poll(() => view(location!))
      .toEqual({
        ...{ id: body.id, model_type: 'extra', filename: 'a.sft', status: 'completed', received: 5000, size: 5000 },
        url: `${site.origin}/a?sig=***`,
        duration: expect.any(Number),
      })
  })

  it('shows who asks', async () => {
    const site = await startSite(serveFile(file))
    const { post } = await serving()
    const auth = { type: 'header', header_name: 'X-Key', header_value: 'secret' }
    await post({ url: `${site.origin}/a.sft`, model_type: 'loras', auth, wait: true })
    expect(site.asked[0]!.headers['x-key']).toBe('secret')
  })

  it('fetches a file once, however often it is asked for', async () => {
    const site = await startSite(serveFile(file))
    const { post } = await serving()
    const asked = { url: `${site.origin}/a.sft`, model_type: 'loras' }
    const [one, other] = await Promise.all([post(asked), post(asked)])
    expect(other.body.id).toBe(one.body.id)
    expect((await post({ ...asked, wait: true })).status).toBe(200)
    expect(await post({ ...asked, wait: true })).toMatchObject({ status: 200, body: { size: 5000 } })
    expect(site.asked).toHaveLength(1)
  })

  it('replaces no file of another URL, nor one that somebody put there', async () => {
    const site = await startSite(serveFile(file))
    const { post, modelDir } = await serving()
    await writeFile(join(modelDir, 'checkpoints/mine.sft'), 'mine')
    const taken = { status: 409, body: { code: 'name-taken' } }
    const asked = { url: `${site.origin}/a.sft`, model_type: 'checkpoints', wait: true }
    expect(await post({ ...asked, filename: 'mine.sft' })).toMatchObject(taken)
    expect(await post(asked)).toMatchObject({ status: 200 })
    expect(await post({ ...asked, url: `${site.origin}/b.sft`, filename: 'a.sft' })).toMatchObject(taken)
    expect(await readFile(join(modelDir, 'checkpoints/mine.sft'), 'utf8')).toBe('mine')
  })
})

describe('a download is refused', () => {
  const a = 'http://models.test/a.sft'
  it.each([
    ['a name that leads elsewhere', { url: a, model_type: 'loras', filename: '../../etc/x.sft' }, 'path-not-allowed'],
    ['a name with folders', { url: a, model_type: 'loras', filename: 'a/b.sft' }, 'path-not-allowed'],
    ['a hidden name', { url: a, model_type: 'loras', filename: '.x.sft' }, 'path-not-allowed'],
    [
      'a name that is too long',
      { url: a, model_type: 'loras', filename: `${'x'.repeat(252)}.sft` },
      'path-not-allowed',
    ],
    ['a URL without a name', { url: 'http://models.test/', model_type: 'loras' }, 'path-not-allowed'],
    ['a file that runs code', { url: 'http://models.test/a.ckpt', model_type: 'loras' }, 'model-unsupported'],
    ['a folder that is none', { url: a, model_type: 'nowhere' }, 'invalid-request'],
    ['a folder outside', { url: a, model_type: '..' }, 'invalid-request'],
    ['an address that is not public', { url: 'http://10.0.0.1/a.sft', model_type: 'loras' }, 'url-not-allowed'],
    ['another scheme', { url: 'file:///etc/passwd', model_type: 'loras' }, 'invalid-request'],
  ])('for %s', async (_, body, code) => {
    const { post, modelDir } = await serving()
    expect(await post(body)).toMatchObject({ status: 400, body: { code } })
    expect(await readdir(modelDir, { recursive: true })).not.toContain('loras/a.sft')
  })

  it('with all that is wrong with the body', async () => {
    const { post } = await serving()
    const { status, body } = await post({ wait: 'yes', auth: { type: 'header', header_name: 'Host' } })
    expect(status).toBe(400)
    expect(Object.keys(body.errors)).toEqual(expect.arrayContaining(['url', 'model_type', 'wait', 'auth.header_name']))
  })
})

describe('a download that fails', () => {
  it.each([
    [404, 400, 'model-unavailable'],
    [503, 502, 'download-failed'],
  ])('because the other side answers %d ends in %d', async (status, expected, code) => {
    const site = await startSite((_, response) => void response.writeHead(status).end())
    const { post } = await serving()
    const asked = { url: `${site.origin}/a.sft`, model_type: 'loras', wait: true }
    expect(await post(asked)).toMatchObject({ status: expected, body: { code } })
  })

  it('because it is too large ends in 413', async () => {
    const site = await startSite(serveFile(file))
    const { post } = await serving({ maxBytes: 100 })
    const asked = { url: `${site.origin}/a.sft`, model_type: 'loras', wait: true }
    expect(await post(asked)).toMatchObject({ status: 413, body: { code: 'model-too-large' } })
  })

  it('can be looked at, leaves no file that looks whole, and is fetched again', async () => {
    const progress = new EventEmitter()
    let broken = true
    const site = await startSite((request, response) => {
      if (!broken) return serveFile(file)(request, response)
      breakOffAfter(0, file, progress)(request, response)
      setImmediate(() => progress.emit('bytes', 0))
    })
    const { post, view, modelDir } = await serving()
    const asked = { url: `${site.origin}/a.sft`, model_type: 'loras' }
    const { location } = await post(asked)
    await expect.poll(() => view(location!)).toMatchObject({ status: 'failed', error: { code: 'download-failed' } })
    expect(await readdir(join(modelDir, 'loras'))).not.toContain('a.sft')
    broken = false
    expect(await post({ ...asked, wait: true })).toMatchObject({ status: 200 })
  })
})

it('answers 404 for a download that nobody knows', async () => {
  const { origin } = await serving()
  const answer = await fetch(`${origin}/downloads/none`)
  expect([answer.status, ((await answer.json()) as Body).code]).toEqual([404, 'not-found'])
})
