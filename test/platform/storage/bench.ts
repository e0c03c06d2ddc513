import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import type { Express } from 'express'
import { startFauxqs } from 'fauxqs'
import { onTestFinished } from 'vitest'
import { silentLog } from '../../../src/common/log.ts'
import { createMembers } from '../../../src/platform/base/members.ts'
import type { VerifyToken } from '../../../src/platform/storage/access.ts'
import { createStorageApp } from '../../../src/platform/storage/app.ts'
import type { BlobStore } from '../../../src/platform/storage/blob-store.ts'
import { createDiskBlobs } from '../../../src/platform/storage/disk-blobs.ts'
import { createS3Blobs } from '../../../src/platform/storage/s3-blobs.ts'
import { type StorageSettings, storageDefaults } from '../../../src/platform/storage/settings.ts'
import { createSweep } from '../../../src/platform/storage/sweep.ts'
import { emptyFolder } from '../../support/folder.ts'
import { addTenant, platformDatabase } from '../../support/platform-database.ts'
import { site } from '../../support/uploads.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly text: string
  /** The body parsed. */
  readonly json: { readonly [member: string]: unknown; readonly url: string; readonly detail: string }
}

interface Setup {
  readonly store?: 'disk' | 's3'
  readonly settings?: Partial<StorageSettings>
  readonly verifyToken?: VerifyToken
  /** The store as the app sees it. */
  readonly wrapped?: (blobs: BlobStore) => BlobStore
}

type Headers = Readonly<Record<string, string>>

/** A request whose path goes out as it is written. */
export async function ask(method: string, url: string, headers: Headers = {}, body?: Buffer | string): Promise<Answer> {
  const [, origin = '', path = '/'] = /^(https?:\/\/[^/]+)(\/.*)?$/s.exec(url) ?? []
  const length =
    body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': Buffer.byteLength(body) }
  const asked = httpRequest(origin, { method, path, headers: { ...length, ...headers }, agent: false }).end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  const bytes = await buffer(answer)
  return {
    status: answer.statusCode!,
    headers: answer.headers,
    body: bytes,
    text: String(bytes),
    get json() {
      return JSON.parse(String(bytes))
    },
  }
}

/** A form of these fields; `file` is binary. */
export function formOf(fields: Readonly<Record<string, string | Buffer>>) {
  const parts = Object.entries(fields).flatMap(([name, value]) => [
    `--edge\r\nContent-Disposition: form-data; name="${name}"${name === 'file' ? '; filename="f"' : ''}\r\n\r\n`,
    value,
    '\r\n',
  ])
  const body = Buffer.concat([...parts, '--edge--\r\n'].map((part) => Buffer.from(part)))
  return { headers: { 'content-type': 'multipart/form-data; boundary=edge' }, body }
}

async function s3Blobs(folder: string): Promise<BlobStore> {
  const server = await startFauxqs({ port: 0, logger: false })
  onTestFinished(() => server.stop())
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  const place = { region: 'eu-central-1', endpoint: `http://127.0.0.1:${server.port}`, credentials }
  await new S3Client({ ...place, forcePathStyle: true }).send(new CreateBucketCommand({ Bucket: 'files' }))
  return createS3Blobs({ ...place, bucket: 'files', folder })
}

/** To be called while tests are declared: makes a storage API with an organization of its own, at a clock that stands still. */
export function storageBench() {
  const database = platformDatabase()
  return async ({
    store = 'disk',
    settings,
    verifyToken = async () => undefined,
    wrapped = (blobs) => blobs,
  }: Setup = {}) => {
    const { db } = database()
    const folder = await emptyFolder()
    const blobs = store === 'disk' ? createDiskBlobs(folder) : await s3Blobs(join(folder, 'incoming'))
    const clock = { ms: Date.now() }
    let app: Express | undefined
    const url = await site((request, response) => app!(request, response))
    const deps = {
      db,
      blobs: wrapped(blobs),
      now: () => clock.ms,
      log: silentLog,
      settings: { ...storageDefaults, ...settings },
    }
    app = createStorageApp({ ...deps, members: createMembers(db), publicUrl: url, verifyToken })
    const tenant = await addTenant(db, `org-${randomBytes(6).toString('hex')}`)
    const base = `${url}/organizations/${tenant.organization.name}`
    const own = { 'service-api-key': tenant.key }
    /** With the member's key, under the organization. */
    const asMember = (method: string, path: string, headers: Headers = {}, body?: Buffer | string) =>
      ask(method, `${base}/${path}`, { ...own, ...headers }, body)
    const namesOfBlobs = async () => {
      const names: string[] = []
      for await (const group of blobs.list(new Date(Date.now() + 60_000))) names.push(...group)
      return names.filter((name) => name.startsWith(tenant.organization.id))
    }
    return {
      ...{ db, url, base, own, tenant, clock, blobs, folder, namesOfBlobs },
      sweep: createSweep(deps),
      ask: asMember,
      upload(path: string, fields: Readonly<Record<string, string | Buffer>>) {
        const { headers, body } = formOf(fields)
        return asMember('PUT', `files/${path}`, headers, body)
      },
      sign: (path: string, body: unknown) =>
        asMember('POST', `file_tokens/${path}`, { 'content-type': 'application/json' }, JSON.stringify(body)),
    }
  }
}
