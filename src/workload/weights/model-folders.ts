import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isPlainName } from '../base/find-file.ts'

/** ComfyUI's folders of model files; workflows and `/models` know them by these names. */
export const modelFolderNames = [
  'checkpoints',
  'clip_vision',
  'configs',
  'controlnet',
  'diffusers',
  'diffusion_models',
  'embeddings',
  'gligen',
  'hypernetworks',
  'loras',
  'photomaker',
  'style_models',
  'text_encoders',
  'upscale_models',
  'vae',
  'vae_approx',
] as const

/** Folders that are searched beside the one that was asked for: names of older installations. */
const also: Readonly<Record<string, readonly string[]>> = {
  text_encoders: ['clip'],
  diffusion_models: ['unet'],
  controlnet: ['t2i_adapter'],
}

const legacy: Readonly<Record<string, string>> = { clip: 'text_encoders', unet: 'diffusion_models' }
const modelFile = /\.(ckpt|pt2?|bin|pth|safetensors|pkl|sft|onnx)$/i
const configFile = /\.ya?ml$/i

const indexFile = /.\/model_index\.json$/

const wantedIn = (folder: string): RegExp =>
  folder === 'configs' ? configFile : folder === 'diffusers' ? indexFile : modelFile

/** Models in the layout of diffusers are whole folders, each told by this file in it, which their names leave out. */
const indexOf = (folder: string): string => (folder === 'diffusers' ? '/model_index.json' : '')

/** The model files of this machine. */
export interface ModelFolders {
  readonly names: readonly string[]
  /** The files of a folder at this moment: paths relative to it with `/`, sorted by code point; in `diffusers`, folders. */
  list(folder: string): Promise<readonly string[]>
  /** The path of a listed file, or undefined when there is none of that name. */
  find(folder: string, name: string): Promise<string | undefined>
}

/**
 * Lists and finds model files below `root`, which has a sub-folder a kind; with `cache`, also those that were fetched,
 * which come first: their names stand for URLs, and nobody may put another file in their place.
 */
export function createModelFolders(root: string, cache?: string): ModelFolders {
  const placesOf = (folder: string) => {
    const name = legacy[folder] ?? folder
    const own = [name, ...(also[name] ?? [])].map((place) => join(root, place))
    return cache === undefined ? own : [join(cache, name), ...own]
  }
  const listed = async (folder: string): Promise<ReadonlyMap<string, string>> => {
    const wanted = wantedIn(folder)
    const files = new Map<string, string>()
    for (const place of placesOf(folder)) {
      for (const path of await walk(place, new Set())) {
        const name = relative(place, path).split(sep).join('/')
        if (!wanted.test(name) || !isPlainName(name)) continue
        const model = name.slice(0, name.length - indexOf(folder).length)
        if (!files.has(model)) files.set(model, path)
      }
    }
    return files
  }
  return {
    names: modelFolderNames,
    list: async (folder) => [...(await listed(folder)).keys()].sort(),
    async find(folder, name) {
      const index = indexOf(folder)
      if (!isPlainName(name) || !wantedIn(folder).test(name + index) || /(^|\/)\./.test(name)) return undefined
      for (const place of placesOf(folder)) {
        const path = join(place, name)
        // Links may lead out of the folder, as model hubs' caches do; names may not.
        const isFile = await stat(path + index).then(
          (found) => found.isFile(),
          () => false,
        )
        if (isFile) return path
      }
      return undefined
    },
  }
}

/** Every file below `folder`, through links; a folder met twice, as in a circle of links, is walked once. */
async function walk(folder: string, seen: Set<string>): Promise<readonly string[]> {
  const real = await realpath(folder).catch(() => undefined)
  if (real === undefined || seen.has(real)) return []
  seen.add(real)
  const paths: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && (await isLinkedFolder(path)))
    if (isFolder) paths.push(...(await walk(path, seen)))
    else paths.push(path)
  }
  return paths
}

async function isLinkedFolder(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  )
}
