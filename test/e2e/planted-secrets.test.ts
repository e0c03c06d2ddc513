import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import sharp from 'sharp'
import { expect, it, onTestFinished } from 'vitest'
import { emptyFolder } from '../support/folder.ts'
import { node, picture, saving, slow } from '../support/prompts.ts'
import { queueFolderIn } from '../support/queues.ts'
import { startServer } from '../support/server.ts'
import { listen } from '../support/site.ts'

/** Text that stands nowhere else, and for itself in every URL. */
const planted = (): string => randomBytes(12).toString('hex')

/** Nobody but those they are meant for may see these. */
const hidden = {
  bearer: planted(),
  username: planted(),
  password: planted(),
  header: planted(),
  query: planted(),
  accessKeyId: planted(),
  secretAccessKey: planted(),
  sessionToken: planted(),
  userOfImage: planted(),
  passwordOfImage: planted(),
  queryOfImage: planted(),
  signatureOfImage: planted(),
  s3Query: planted(),
  ownAccessKeyId: planted(),
  ownSecretAccessKey: planted(),
  ownSessionToken: planted(),
  apiKey: planted(),
  webhookKey: Buffer.from(planted()).toString('base64'),
  storageKey: planted(),
  ownHeader: planted(),
  hfToken: planted(),
  azureKey: Buffer.from(planted()).toString('base64'),
}

/** What a client says of its own receivers and stores is repeated to it and its receivers, and has to be kept. */
const echoed = {
  userOfWebhook: planted(),
  passwordOfWebhook: planted(),
  queryOfWebhook: planted(),
  queryOfPlainWebhook: planted(),
  queryOfPrefix: planted(),
  tokenOfStorage: planted(),
}

/** A secret as it may stand in a text: as it is, and inside of something in base64, wherever that begins. */
function spellings(secret: string): readonly string[] {
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from('x'.repeat(shift) + secret).toString('base64')
    return text.slice(Math.ceil((shift * 4) / 3), -4)
  })
  return [secret, encodeURIComponent(secret), ...inBase64]
}

/** Names of those of `secrets` that stand in `bytes`. */
const foundIn = (bytes: Buffer | string, secrets: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(secrets).flatMap(([name, secret]) =>
    spellings(secret).some((spelling) => bytes.includes(spelling)) ? [name] : [],
  )

/** The files that were written since `began`, in epoch milliseconds: a database has many more. */
async function filesBelow(folder: string, began: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const written = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs >= began))
  return files.filter((_, i) => written[i])
}

/** Answers as its path says, and repeats all it was sent to whoever listens, as careless servers do. */
async function careless() {
  const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  const told: { readonly path: string; readonly body: Buffer }[] = []
  const seen: string[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const { url = '', method, rawHeaders } = request
    seen.push(`${method} ${url} ${rawHeaders.join(' ')}`)
    const [, status = '200'] = /^\/(\d+)/.exec(url) ?? []
    if (method === 'POST' && url.startsWith('/200/hook')) told.push({ path: url, body })
    const remark = `${url} ${rawHeaders.join(' ')}`
    response.statusCode = Number(status)
    response.statusMessage = remark.replaceAll(/[^\x20-\x7e]/g, '').slice(0, 500)
    response.setHeader('x-remark', remark.slice(0, 1000))
    if (status !== '200') return void response.end(`<Error><Code>${remark}</Code><Message>${remark}</Message></Error>`)
    if (method === 'GET' || method === 'HEAD') return void response.setHeader('etag', '"1"').end(png)
    if (url.includes('/organizations/'))
      return void response.end(JSON.stringify({ url: `http://127.0.0.1/x.png?token=${echoed.tokenOfStorage}` }))
    response.setHeader('etag', '"1"').end()
  }
  const { port } = await listen(answer)
  return { origin: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, told, seen }
}

it('secrets reach those they are meant for, and stand in no other place', async () => {
  const { origin, host, told, seen } = await careless()
  const [data, output, cache] = await Promise.all([emptyFolder(), emptyFolder(), emptyFolder()])
  await queueFolderIn(join(data, 'queue'))
  const began = Date.now()
  const started = {
    DATA_DIR: data,
    OUTPUT_DIR: output,
    CACHE_DIR: cache,
    LOG_LEVEL: 'trace',
    OUTBOUND_ALLOW: '127.0.0.1',
    API_KEY: hidden.apiKey,
    WEBHOOK_SECRET: hidden.webhookKey,
    WEBHOOK_SCHEDULE_S: '0,0.05',
    PROMPT_WEBHOOK_RETRIES: '2',
    UPLOAD_ATTEMPTS: '1',
    JOB_RETENTION_S: '600',
    AWS_REGION: 'eu-west-1',
    AWS_ENDPOINT_URL: `${origin}/403/own-s3`,
    AWS_ACCESS_KEY_ID: hidden.ownAccessKeyId,
    AWS_SECRET_ACCESS_KEY: hidden.ownSecretAccessKey,
    AWS_SESSION_TOKEN: hidden.ownSessionToken,
    AZURE_STORAGE_CONNECTION_STRING: `BlobEndpoint=${origin}/403/azure;AccountName=acme;AccountKey=${hidden.azureKey}`,
    STORAGE_URL: `${origin}/200/storage`,
    STORAGE_ORGANIZATION: 'acme',
    STORAGE_API_KEY: hidden.storageKey,
    HTTP_AUTH_HEADER_NAME: 'X-Own',
    HTTP_AUTH_HEADER_VALUE: hidden.ownHeader,
    HTTP_AUTH_HEADER_HOSTS: host,
    HF_TOKEN: hidden.hfToken,
    SYSTEM_WEBHOOK_URL: `${origin}/200/hook/system`,
    SYSTEM_WEBHOOK_EVENTS: 'all',
  }
  const server = await startServer(started)
  onTestFinished(async () => void (await server.stop('SIGKILL')))

  const { user, pass } = { user: hidden.userOfImage, pass: hidden.passwordOfImage }
  const credentials = [
    { url_pattern: '**/bearer**', auth: { type: 'bearer', token: hidden.bearer } },
    { url_pattern: '**/basic**', auth: { type: 'basic', username: hidden.username, password: hidden.password } },
    { url_pattern: '**/header**', auth: { type: 'header', header_name: 'X-Mine', header_value: hidden.header } },
    { url_pattern: '**/query**', auth: { type: 'query', query_param: 'key', query_value: hidden.query } },
    {
      url_pattern: 's3://**',
      auth: {
        type: 's3',
        access_key_id: hidden.accessKeyId,
        secret_access_key: hidden.secretAccessKey,
        session_token: hidden.sessionToken,
        endpoint: `${origin}/403/s3`,
        region: 'eu-west-1',
      },
    },
  ]
  const image = (url: string) => saving(node('LoadImage', { image: url }))
  const at = (path: string) => `${origin}${path}`
  const named = (path: string) =>
    `http://${user}:${pass}@${host}${path}?key=${hidden.queryOfImage}&X-Sig=${hidden.signatureOfImage}`
  const hook = (path: string) =>
    `http://${echoed.userOfWebhook}:${echoed.passwordOfWebhook}@${host}${path}?key=${echoed.queryOfWebhook}`
  const plainHook = (path: string) => `${origin}${path}?key=${echoed.queryOfPlainWebhook}`
  const prefix = (path: string) => ({ url_prefix: `${origin}${path}?key=${echoed.queryOfPrefix}` })

  const bodies: Readonly<Record<string, object>> = {
    'bearer-image': { prompt: image(at('/200/bearer.png')) },
    'basic-image': { prompt: image(at('/200/basic.png')) },
    'header-image': { prompt: image(at('/200/header.png')) },
    'query-image': { prompt: image(at('/200/query.png')) },
    'own-image': { prompt: image(at('/200/own.png')) },
    'named-image': { prompt: image(named('/200/named.png')) },
    'refused-bearer': { prompt: image(at('/403/bearer.png')) },
    'refused-query': { prompt: image(at('/500/query.png')) },
    'refused-named': { prompt: image(named('/403/named.png')) },
    'unreachable-named': { prompt: image(`http://${user}:${pass}@127.0.0.1:9/x.png?key=${hidden.queryOfImage}`) },
    'redirected-away': { prompt: image(`http://${user}:${pass}@10.0.0.1/x.png?key=${hidden.queryOfImage}`) },
    's3-image': { prompt: image(`s3://bucket/refused.png?sig=${hidden.s3Query}`) },
    'bad-image': { prompt: image(`ftp://${user}:${pass}@${host}/x.png?key=${hidden.queryOfImage}`) },
    'put-bearer': { prompt: saving(picture()), http_upload: prefix('/200/bearer') },
    'put-query': { prompt: saving(picture()), http_upload: { url_prefix: at('/200/query') } },
    'put-own': { prompt: saving(picture()), http_upload: { url_prefix: at('/200/own') } },
    'put-refused': { prompt: saving(picture()), http_upload: prefix('/500/header') },
    'put-unreachable': { prompt: saving(picture()), http_upload: { url_prefix: 'http://127.0.0.1:9/basic' } },
    's3-refused': { prompt: saving(picture()), s3: { bucket: 'bucket', prefix: 'a/' } },
    'own-s3-refused': { prompt: saving(picture()), s3: { bucket: 'bucket', prefix: 'a/' }, credentials: [] },
    'azure-refused': { prompt: saving(picture()), azure_blob_upload: { container: 'container' } },
    'storage-stored': { prompt: saving(picture()), storage: {} },
    'failing-node': {
      prompt: {
        ...image(named('/200/failing.png')),
        out: node('TestSave', { images: ['fails', 0] }),
        fails: node('TestFails', { image: ['image', 0], message: 'no reason' }),
      },
    },
  }
  const key = { 'service-api-key': hidden.apiKey }
  const answers: string[] = []
  const ask = async (path: string, init: RequestInit = {}): Promise<number> => {
    const response = await fetch(`${server.url}${path}`, { ...init, headers: { ...key, ...init.headers } })
    answers.push(`${path} ${[...response.headers].join(' ')} ${await response.text()}`)
    return response.status
  }
  const post = (body: object) =>
    ask('/prompt', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ credentials, ...body }),
    })

  // One after the other, so that none finds a cached result of another.
  const synchronous = Object.entries(bodies)
  await Promise.all(synchronous.map(([id, body]) => post({ ...body, id: `sync-${id}` })))
  const asynchronous = Object.entries(bodies).flatMap(([id, body], i) => {
    const hooks = i % 2 === 0 ? { webhook_v2: hook('/200/hook') } : { webhook_v2: hook('/500/hook') }
    const plain = i % 3 === 0 && !('http_upload' in body) ? { webhook: plainHook('/200/hook/plain') } : {}
    return [{ ...body, id: `async-${id}`, ...hooks, ...plain }]
  })
  const statuses = await Promise.all(asynchronous.map(post))
  const accepted = asynchronous.filter((_, i) => statuses[i] === 202).map(({ id }) => id)
  expect(accepted.length).toBeGreaterThan(15)
  // One that waits, and one that is stopped, are records too.
  await post({ id: 'stopped', prompt: saving(slow(1000, 50)), webhook_v2: hook('/500/hook') })
  const isEnded = async (id: string): Promise<boolean> => {
    const response = await fetch(`${server.url}/jobs/${id}?result=false`, { headers: key })
    const { finish_time, delivery = [] } = (await response.json()) as {
      finish_time?: string
      delivery?: { status: string }[]
    }
    return finish_time !== undefined && delivery.every(({ status }) => status !== 'pending')
  }
  await expect
    .poll(async () => (await Promise.all(accepted.map(isEnded))).every(Boolean), { timeout: 20_000 })
    .toBe(true)
  await ask('/jobs/stopped', { method: 'DELETE' })

  const records: string[] = []
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${server.url}${path}`, { headers: key, ...init })
    records.push(`${path} ${await response.text()}`)
  }
  for (const path of ['/jobs', '/metrics', '/queue', '/history', '/ready', '/health', '/docs/json']) await read(path)
  for (const id of [...accepted, ...synchronous.map(([id]) => `sync-${id}`)]) {
    await ask(`/jobs/${id}`)
    await read(`/jobs/${id}?result=false`)
    await read(`/jobs/${id}/events`)
  }
  expect(records.join()).toContain('async-put-refused')
  for (const text of records)
    expect([text.slice(0, 60), foundIn(text, { ...hidden, ...echoed })]).toEqual([expect.anything(), []])
  for (const text of answers) expect([text.slice(0, 60), foundIn(text, hidden)]).toEqual([expect.anything(), []])
  expect(told.length).toBeGreaterThan(8)
  for (const { path, body } of told)
    expect([path, foundIn(body, path.includes('system') ? { ...hidden, ...echoed } : hidden)]).toEqual([path, []])

  await pause(200)
  await server.stop()
  const log = server.lines.join('\n')
  expect(log).toContain('async-put-refused')
  const leaking = server.lines.filter((line) => foundIn(line, { ...hidden, ...echoed }).length > 0)
  expect(leaking).toEqual([])
  // Everything was used: a secret that was never sent could not have leaked.
  const all = seen.join('\n')
  const unused = ['webhookKey', 'apiKey', 'hfToken', 'azureKey', 'secretAccessKey', 'ownSecretAccessKey']
  expect(foundIn(all, hidden)).toEqual(Object.keys(hidden).filter((name) => !unused.includes(name)))

  const files = (await Promise.all([data, output, cache].map((folder) => filesBelow(folder, began)))).flat()
  const contents = await Promise.all(files.map(async (path) => ({ path, bytes: await readFile(path) })))
  // What waits is kept there, and so is the way to its receivers: the search finds what there is.
  expect(contents.some(({ bytes }) => bytes.includes(echoed.queryOfWebhook))).toBe(true)
  for (const { path, bytes } of contents) expect([path, foundIn(bytes, hidden)]).toEqual([path, []])
}, 60_000)
