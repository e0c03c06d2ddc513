import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { silentLog } from '../../src/common/log.ts'
import type { Prompt } from '../../src/contracts/prompt.ts'
import { pixelCountOf } from '../../src/workload/image/pixel-count.ts'
import { addressGuard, guardedAgents, type Lookup } from '../../src/workload/media/address-guard.ts'
import { addressRules } from '../../src/workload/media/address-rules.ts'
import { createFetchMedia, type FetchMedia } from '../../src/workload/media/fetch-media.ts'
import { createIdentify, type OwnIdentities } from '../../src/workload/media/identify.ts'
import { createMediaCache } from '../../src/workload/media/media-cache.ts'
import { createOutbound } from '../../src/workload/media/outbound.ts'
import { createS3Objects, type S3Own } from '../../src/workload/media/s3-objects.ts'
import { createMediaInputs } from '../../src/workload/media/store-media.ts'
import { emptyFolder } from './folder.ts'

/** Knows `localhost` and no other host. */
const lookup: Lookup = (host, _options, done) =>
  host === 'localhost'
    ? done(null, [{ address: '127.0.0.1', family: 4 }])
    : done(Object.assign(new Error('unknown host'), { code: 'ENOTFOUND' }), [])

/** The only address that is not public and may be reached. */
const rules = addressRules(['127.0.0.2'])
export const outbound = createOutbound(rules, lookup)
const agents = guardedAgents(addressGuard(rules, lookup))

/** A store of the server's own, which is not asked unless a test says where it is. */
export const noStore: S3Own = {
  region: 'us-east-1',
  endpoint: undefined,
  accessKeyId: undefined,
  secretAccessKey: undefined,
  sessionToken: undefined,
}

/** Objects as the server reads them. */
export const storedObjects = (own: Partial<S3Own> = {}, allowedBuckets: readonly string[] = []) =>
  createS3Objects({ own: { ...noStore, ...own }, allowedBuckets, check: outbound.check, agents })

export interface FetchingOptions {
  readonly maxBytes?: number
  /** Where files are kept; without one none are. */
  readonly folder?: string
  readonly headersFor?: OwnIdentities['headersFor']
  readonly storage?: Partial<OwnIdentities['storage']>
  readonly objects?: ReturnType<typeof storedObjects>
  readonly now?: () => number
}

/** Fetches as the server does, from 127.0.0.2. */
export function fetching(options: FetchingOptions = {}): FetchMedia {
  const { maxBytes = 1_000_000, folder, headersFor = () => ({}), storage, objects = storedObjects() } = options
  const nowhere = { url: undefined, organization: undefined, apiKey: undefined }
  const identify = createIdentify({ headersFor, storage: { ...nowhere, ...storage } })
  const kept = { folder: folder ?? '', maxBytes: folder === undefined ? 0 : 10_000_000 }
  const cache = createMediaCache({ ...kept, log: silentLog, now: options.now ?? Date.now })
  return createFetchMedia({ outbound, identify, objects, cache, maxBytes, firstPauseMs: 1 })
}

/** A node that loads a picture. */
export const loading = (image: unknown) => ({ class_type: 'LoadImage', inputs: { image } })

/** An input folder with `picture` as `cat.png` and `sub/cat.png`, and as `secret.png` beside it. */
export async function mediaRoom(picture: Buffer, maxBytes = 1_000_000, maxPixels = 1_000_000) {
  const root = await emptyFolder()
  const [folder, inputDir] = [join(root, 'media'), join(root, 'input')]
  await mkdir(join(inputDir, 'sub'), { recursive: true })
  await writeFile(join(root, 'secret.png'), picture)
  await writeFile(join(inputDir, 'cat.png'), picture)
  await writeFile(join(inputDir, 'sub/cat.png'), picture)
  const media = fetching({ maxBytes })
  const takeInputs = createMediaInputs({ inputDir, maxBytes, maxPixels, pixelsOf: pixelCountOf, media })
  const { signal } = new AbortController()
  const take = (prompt: Prompt, fetch: boolean) => takeInputs(prompt, { folder, credentials: [], signal, fetch })
  const store = async (prompt: Prompt) => (await take(prompt, true)).prompt
  const imageFor = async (image: unknown) => (await store({ '5': loading(image) }))['5']?.inputs.image
  return { root, folder, inputDir, take, store, imageFor }
}
