import { readFile } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../common/log.ts'
import { type ManifestModel, manifestSchema } from '../../contracts/manifest.ts'
import { maskedUrl } from '../base/credentials.ts'
import { messageOf, WorkloadError } from '../base/errors.ts'
import type { FetchFile } from '../media/fetch-file.ts'
import type { FileEvents } from '../media/file-events.ts'
import type { ModelSources } from '../media/model-source.ts'

/** Parts of other servers' manifests that mean nothing where no Python runs. */
const foreign = ['apt', 'pip', 'custom_nodes'] as const
const LONGEST_RETRY_MS = 300_000

/** Where models of a manifest may lie. */
export interface ManifestPlaces {
  readonly modelDir: string
  /** The application's folder, whose `models` other servers put models in. */
  readonly home: string
}

/** A model and the path it is to have. */
export interface PlacedModel {
  readonly url: string
  readonly path: string
}

/** What a server is to bring here when it starts. */
export interface Manifest {
  /** Before it takes prompts. */
  readonly before: readonly PlacedModel[]
  /** While it works. */
  readonly after: readonly PlacedModel[]
  /** What of the manifest means nothing here, a sentence each. */
  readonly warnings: readonly string[]
}

/** Reads the manifest: `json` if there is one, else `file`, which is YAML or JSON. Throws one error with all its faults. */
export async function readManifest(
  { file, json }: { readonly file: string | undefined; readonly json: string | undefined },
  places: ManifestPlaces,
): Promise<Manifest> {
  const name = json === undefined ? `the manifest ${file}` : 'MANIFEST_JSON'
  if (json === undefined && file === undefined) return { before: [], after: [], warnings: [] }
  const faults: string[] = []
  const placed = (models: readonly ManifestModel[] | null | undefined) =>
    (models ?? []).flatMap(({ url, local_path }) => {
      const path = placeOf(local_path, places)
      if (path === undefined) faults.push(`${local_path} does not lie in the folder of models`)
      return path === undefined ? [] : [{ url, path }]
    })
  try {
    const parsed = manifestSchema.safeParse(json === undefined ? await readYaml(file!) : JSON.parse(json))
    if (!parsed.success) faults.push(...parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`))
    const { models, ...rest } = parsed.data ?? {}
    const manifest = { before: placed(models?.before_start), after: placed(models?.after_start) }
    if (faults.length > 0) throw new Error(faults.join('; '))
    const ignored = foreign.filter((key) => rest[key] !== undefined && rest[key] !== null)
    return { ...manifest, warnings: ignored.map((key) => `${key} is ignored: no Python runs here`) }
  } catch (cause) {
    throw new Error(`${name} cannot be used: ${messageOf(cause)}`, { cause })
  }
}

export interface ManifestDeps {
  readonly fetchFile: FetchFile
  readonly sources: ModelSources
  readonly events: Pick<FileEvents, 'downloaded'>
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  /** Writes a line where people look. */
  readonly say: (line: string) => void
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly signal: AbortSignal
  /** Before a model that must be here is tried again; doubles up to five minutes. */
  readonly firstPauseMs: number
}

/**
 * Brings `models` here that are not, all at once, and resolves when they are. What fails is told and, with `insist`, tried
 * again until it succeeds; without, it is left. Throws only the reason of the signal.
 */
export async function fetchModels(models: readonly PlacedModel[], insist: boolean, deps: ManifestDeps): Promise<void> {
  await Promise.all(models.map((model) => bring(model, insist, deps)))
}

async function bring(model: PlacedModel, insist: boolean, deps: ManifestDeps): Promise<void> {
  const { signal, log, say, firstPauseMs } = deps
  for (let wait = firstPauseMs; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
    try {
      return await fetchOne(model, deps)
    } catch (error) {
      signal.throwIfAborted()
      const facts = { url: maskedUrl(model.url), path: model.path }
      if (error instanceof WorkloadError) log.error({ ...facts, cause: error.message }, 'a model is not here')
      else log.error({ ...facts, err: error }, 'a model is not here')
      if (!insist) return
      say(`not ready: ${model.path} is not here: ${messageOf(error)}; another attempt follows in ${wait / 1000} s`)
      await pause(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

async function fetchOne({ url, path }: PlacedModel, { fetchFile, sources, events, log, now, signal }: ManifestDeps) {
  const there = await sources.look(path, url)
  if (there && (there.same || !there.downloaded)) return // what the operator put there stays
  const began = now()
  const { bytes } = await fetchFile({ url, auth: undefined, path, signal })
  await sources.note(path, url)
  const seconds = (now() - began) / 1000
  log.info({ url: maskedUrl(url), path, bytes, seconds }, 'a model came')
  events.downloaded({ url, name: path.split(sep).slice(-2).join('/'), bytes, seconds })
}

/** The path of a model: `models/…` and other relative ones lie in the folder of models; undefined for one outside. */
function placeOf(path: string, { modelDir, home }: ManifestPlaces): string | undefined {
  const models = resolve(home, 'models')
  const absolute = isAbsolute(path) ? resolve(path) : resolve(home, path)
  const placed = isInside(absolute, models)
    ? join(modelDir, absolute.slice(models.length))
    : isAbsolute(path)
      ? absolute
      : resolve(modelDir, path)
  return isInside(placed, modelDir) || (isAbsolute(path) && isInside(placed, home)) ? placed : undefined
}

const isInside = (path: string, folder: string): boolean => path.startsWith(`${resolve(folder)}${sep}`)

async function readYaml(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8')
  // Loaded when there is something to read: most servers start without.
  const { parse } = await import('yaml')
  return parse(text)
}
