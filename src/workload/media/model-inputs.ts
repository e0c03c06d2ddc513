import type { Auth, Credentials } from '../../contracts/credentials.ts'
import type { Prompt, PromptNode } from '../../contracts/prompt.ts'
import { authFor } from '../base/credentials.ts'
import { WorkloadError } from '../base/errors.ts'
import { cachedName, type DiskCache, type HeldFile } from './disk-cache.ts'
import type { TakeInputs } from './inputs.ts'
import { admitModel, modelExtension } from './model-format.ts'

/** After one file has failed, how long the others may go on so that their faults are told too. */
const GRACE_MS = 2000

export interface ModelInputDeps {
  /** The inputs of a class of nodes that name files, and the folder of each; undefined for an unknown class. */
  readonly fileInputs: (classType: string) => Promise<ReadonlyMap<string, string> | undefined>
  readonly cache: Pick<DiskCache, 'take'>
  /** Throws `url-not-allowed` for what can be refused without asking anybody. */
  readonly check: (url: string, credentials: Credentials) => void
}

/** A model that a node names by URL. */
interface Wanted {
  readonly node: string
  readonly input: string
  readonly folder: string
  readonly url: string
}

/** The same, where it may be fetched. */
interface Admitted extends Wanted {
  readonly extension: string
  readonly auth: Auth | undefined
}

interface Fault {
  readonly node: string
  readonly input: string
  readonly error: WorkloadError
}

/**
 * Takes in the models that a prompt names by URL, wherever a node declares that it wants a file of a folder: the URL gives
 * way to the file's name in the cache. Those names are `assumed` also when the files are there, because nobody may name
 * them who did not name the URL.
 */
export function createModelInputs({ fileInputs, cache, check }: ModelInputDeps): TakeInputs {
  const admit = (wanted: Wanted, credentials: Credentials): Admitted => {
    const { url, folder } = wanted
    if (folder === 'diffusers')
      throw new WorkloadError('model-unsupported', 'repositories are not cloned: name a folder that is here')
    check(url, credentials)
    return { ...wanted, extension: modelExtension(url), auth: authFor(credentials, url) }
  }
  const take = (model: Admitted, signal: AbortSignal): Promise<HeldFile> =>
    cache.take({ ...model, signal, admit: (head) => admitModel(model.extension, head) })

  /** Fetches all at once into `held` and resolves with what was wrong. */
  const takeAll = async (models: readonly Admitted[], signal: AbortSignal, held: HeldFile[]) => {
    const faults: Fault[] = []
    const failing = new AbortController()
    const ended = AbortSignal.any([signal, failing.signal])
    let grace: NodeJS.Timeout | undefined
    const taking = models.map(async (model) => {
      try {
        held.push(await take(model, ended))
      } catch (error) {
        if (ended.aborted) return
        grace ??= setTimeout(() => failing.abort(), GRACE_MS)
        faults.push({ ...model, error: asModelError(error) })
      }
    })
    const outcomes = await Promise.allSettled(taking)
    clearTimeout(grace)
    signal.throwIfAborted()
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    return faults
  }

  return async (prompt, { credentials, signal, fetch }) => {
    const faults: Fault[] = []
    const admitted: Admitted[] = []
    for (const wanted of await wantedOf(prompt, fileInputs)) {
      try {
        admitted.push(admit(wanted, credentials))
      } catch (error) {
        faults.push({ ...wanted, error: asModelError(error) })
      }
    }
    throwAll(prompt, faults)
    const names = new Map(admitted.map((model) => [model, cachedName(model)]))
    const held: HeldFile[] = []
    const release = () => {
      for (const file of held) file.release()
    }
    try {
      if (fetch) faults.push(...(await takeAll(admitted, signal, held)))
      throwAll(prompt, faults)
    } catch (error) {
      release()
      throw error
    }
    return { prompt: withNames(prompt, names), assumed: new Set(names.values()), release }
  }
}

/** The URLs in inputs that name files. */
async function wantedOf(prompt: Prompt, fileInputs: ModelInputDeps['fileInputs']): Promise<readonly Wanted[]> {
  const wanted: Wanted[] = []
  for (const [node, { class_type, inputs }] of Object.entries(prompt))
    for (const [input, folder] of (await fileInputs(class_type)) ?? []) {
      const url = Object.hasOwn(inputs, input) ? inputs[input] : undefined
      if (typeof url === 'string' && /^(https?|s3):\/\//i.test(url)) wanted.push({ node, input, folder, url })
    }
  return wanted
}

function withNames(prompt: Prompt, names: ReadonlyMap<Admitted, string>): Prompt {
  const changed = new Map<string, PromptNode>()
  for (const [{ node: id, input }, name] of names) {
    const node = changed.get(id) ?? prompt[id]!
    changed.set(id, { ...node, inputs: { ...node.inputs, [input]: name } })
  }
  return Object.fromEntries(Object.entries(prompt).map(([id, node]) => [id, changed.get(id) ?? node]))
}

/** What failed on the way to a model is a fault of the prompt that named it; anything unforeseen is thrown on. */
function asModelError(error: unknown): WorkloadError {
  if (!(error instanceof WorkloadError)) throw error
  return error.code === 'download-failed'
    ? new WorkloadError('model-unavailable', error.message, { cause: error })
    : error
}

/** Throws one error with all faults, in the order of the prompt. */
function throwAll(prompt: Prompt, faults: readonly Fault[]): void {
  const order = Object.keys(prompt)
  const [first, ...others] = faults.toSorted((a, b) => order.indexOf(a.node) - order.indexOf(b.node))
  if (first === undefined) return
  const locationOf = ({ node, input }: Fault) => `prompt.${node}.inputs.${input}`
  const all = [first, ...others].map((fault): [string, string[]] => [locationOf(fault), [fault.error.message]])
  throw new WorkloadError(first.error.code, first.error.message, {
    location: locationOf(first),
    errors: Object.fromEntries(all),
    cause: first.error,
  })
}
