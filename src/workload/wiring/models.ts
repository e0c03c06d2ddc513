import type { Log } from '../../common/log.ts'
import { authFor } from '../base/credentials.ts'
import type { Config } from '../config.ts'
import { createDownloads, type Downloads } from '../jobs/downloads.ts'
import { fetchModels, readManifest } from '../jobs/manifest.ts'
import { createDiskCache } from '../media/disk-cache.ts'
import { createFetchFile } from '../media/fetch-file.ts'
import type { FileEvents } from '../media/file-events.ts'
import type { TakeInputs } from '../media/inputs.ts'
import { createModelInputs, type ModelInputDeps } from '../media/model-inputs.ts'
import { createModelSources } from '../media/model-source.ts'
import { createRemote } from '../media/remote-file.ts'
import { modelFolderNames } from '../weights/model-folders.ts'
import type { Network } from './network.ts'

/** Before something is fetched again that did not come. */
const FIRST_PAUSE_MS = 500
/** The same for what the manifest says must be here. */
const MANIFEST_PAUSE_MS = 5000

/** The ways on which model files come to this server. */
export interface Models {
  /** What prompts name by URL. */
  readonly takeInputs: TakeInputs
  readonly downloads: Downloads
  /** Bytes of fetched models that are kept. */
  bytes(): Promise<number>
  /** Resolves when the models are here without which no prompt is taken. */
  bringFirst(signal: AbortSignal): Promise<void>
  /** The others of the manifest; what fails is told in the log. */
  bringRest(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Who is asked and told about models. */
export interface ModelPartners extends Pick<ModelInputDeps, 'fileInputs'> {
  readonly events: FileEvents
  readonly log: Log
  /** Writes a line where people look. */
  readonly say: (line: string) => void
}

/** Throws when the manifest cannot be used. */
export async function wireModels(
  config: Config,
  network: Network,
  { fileInputs, events, log, say }: ModelPartners,
): Promise<Models> {
  const { engine } = config
  const { outbound, trusted, identify, objects } = network
  const limits = {
    maxBytes: config.downloadMaxBytes,
    minFreeBytes: config.diskMinFreeBytes,
    firstPauseMs: FIRST_PAUSE_MS,
  }
  const openRemote = createRemote({ outbound, identify, objects })
  const fetchFile = createFetchFile(openRemote, limits, Date.now)
  const check: ModelInputDeps['check'] = (url, credentials) =>
    /^s3:/i.test(url) ? objects.check(url, authFor(credentials, url)) : outbound.check(url)
  const common = { fetchFile, events, log, now: Date.now }
  const cache = createDiskCache({
    ...common,
    root: engine.modelCacheDir,
    maxBytes: config.diskCacheBytes,
    openRemote,
    firstPauseMs: FIRST_PAUSE_MS,
  })
  const sources = createModelSources(engine.modelDir)
  const downloads = createDownloads({
    ...common,
    modelDir: engine.modelDir,
    folderNames: modelFolderNames,
    sources,
    check: (url, auth) => check(url, auth ? [{ url_pattern: '**', auth }] : []),
  })
  const manifest = await readManifest(config.manifest, { modelDir: engine.modelDir, home: config.comfyHome })
  for (const warning of manifest.warnings) log.warn({}, `the manifest's ${warning}`)
  // The operator's URLs may lead anywhere, as his webhooks may.
  const openTrusted = createRemote({ outbound: trusted, identify, objects })
  const fromManifest = {
    ...common,
    fetchFile: createFetchFile(openTrusted, limits, Date.now),
    sources,
    say,
    firstPauseMs: MANIFEST_PAUSE_MS,
  }
  return {
    takeInputs: createModelInputs({ fileInputs, cache, check }),
    downloads,
    bytes: cache.bytes,
    bringFirst: (signal) => fetchModels(manifest.before, true, { ...fromManifest, signal }),
    bringRest: (signal) => fetchModels(manifest.after, false, { ...fromManifest, signal }),
    close: async () => void (await Promise.all([downloads.close(), cache.close()])),
  }
}
