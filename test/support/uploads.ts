import { lookup as systemLookup } from 'node:dns'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { OwnHeader } from '../../src/workload/base/own-header.ts'
import { ownHeaderFor } from '../../src/workload/base/own-header.ts'
import type { OnAttempt } from '../../src/workload/delivery/attempts.ts'
import type { AzureSettings } from '../../src/workload/delivery/azure-account.ts'
import type { S3Settings } from '../../src/workload/delivery/s3-access.ts'
import type { OutputFile } from '../../src/workload/delivery/target.ts'
import { azureTarget } from '../../src/workload/delivery/targets/azure.ts'
import { httpUploadTarget } from '../../src/workload/delivery/targets/http-upload.ts'
import { s3Target } from '../../src/workload/delivery/targets/s3.ts'
import { type IdentityToken, type StorageSettings, storageTarget } from '../../src/workload/delivery/targets/storage.ts'
import { createUploads, type UploadRequest, type Uploads } from '../../src/workload/delivery/uploads.ts'
import { addressGuard, guardedAgents, type Lookup } from '../../src/workload/media/address-guard.ts'
import { addressRules } from '../../src/workload/media/address-rules.ts'
import { createOutbound } from '../../src/workload/media/outbound.ts'
import { emptyFolder } from './folder.ts'

/** How the server of a test is set up; nothing by default. */
interface Setup {
  readonly s3?: Partial<S3Settings>
  readonly buckets?: readonly string[]
  readonly azure?: Partial<AzureSettings>
  readonly storage?: Partial<StorageSettings>
  readonly token?: IdentityToken
  readonly authHeader?: OwnHeader
  readonly lookup?: Lookup
  readonly attempts?: number
  readonly timeoutMs?: number
  readonly now?: () => number
}

const noS3 = {
  region: undefined,
  endpoint: undefined,
  accessKeyId: undefined,
  secretAccessKey: undefined,
  sessionToken: undefined,
}
const noAzure = { connectionString: undefined, account: undefined, key: undefined, sasToken: undefined }
const noStorage = { url: undefined, organization: undefined, apiKey: undefined }
const noHeader = { name: undefined, value: undefined, hosts: [] }

/** Every target, all real. Clients may lead it to 127.0.0.2, which is what `site` gives, and to no other local address. */
export function uploadsWith(setup: Setup = {}): Uploads {
  const { attempts = 3, timeoutMs = 5000, lookup = systemLookup, now = Date.now, authHeader = noHeader } = setup
  const rules = addressRules(['127.0.0.2'])
  const outbound = createOutbound(rules, lookup)
  const agents = { check: outbound.check, ...guardedAgents(addressGuard(rules, lookup)) }
  const token = setup.token ?? (() => Promise.reject(new Error('there is no metadata service')))
  return createUploads(
    {
      s3: s3Target({ ...noS3, ...setup.s3 }, setup.buckets ?? [], agents),
      azure: azureTarget({ ...noAzure, ...setup.azure }, now),
      http: httpUploadTarget(outbound, (url) => ownHeaderFor(authHeader, url)),
      storage: storageTarget({ ...noStorage, ...setup.storage }, token),
    },
    { attempts, timeoutMs, random: () => 0 },
  )
}

/** Uploads as `request` asks. */
export async function upload(
  uploads: Uploads,
  request: UploadRequest,
  files: readonly OutputFile[],
  onAttempt?: OnAttempt,
): Promise<readonly string[]> {
  return uploads.plan(request)!.run(files, new AbortController().signal, onAttempt)
}

/** Files of these contents, by name. */
export async function filesOf(contents: Readonly<Record<string, string | Buffer>>): Promise<readonly OutputFile[]> {
  const folder = await emptyFolder()
  return Promise.all(
    Object.entries(contents).map(async ([filename, content], i) => {
      const path = join(folder, `${i}.png`)
      await writeFile(path, content)
      return { filename, path, bytes: Buffer.byteLength(content), mime: 'image/png' }
    }),
  )
}

/** A server for the length of one test, under an address that clients may lead to. */
export async function site(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '0.0.0.0')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return `http://127.0.0.2:${(server.address() as AddressInfo).port}` // a TCP server has no other kind
}
