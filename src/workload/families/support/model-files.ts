import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkloadError } from '../../base/errors.ts'
import type { ModelFolders } from '../../weights/model-folders.ts'
import { openSafetensors, type SafetensorsFile, versionOf } from '../../weights/safetensors.ts'

/** Finds and opens model files by folder and name. */
export interface ModelFiles {
  /** Throws `execution-failed` when there is no such file. */
  pathOf(folder: string, name: string): Promise<string>
  /** Of a folder, of everything in it. */
  versionOf(folder: string, name: string): Promise<string>
  /** The names in a folder at this moment. */
  list(folder: string): Promise<readonly string[]>
  /** As `pathOf`, and when the file is none of safetensors. */
  open(folder: string, name: string): Promise<SafetensorsFile>
  /** `make` of the file; its last result again while the file was not replaced. */
  kept<T>(kind: string, make: (file: SafetensorsFile, name: string) => T | Promise<T>): (name: string) => Promise<T>
  /** As `kept`, of a whole folder. */
  keptFolder<T>(kind: string, make: (folder: FolderModel, name: string) => Promise<T>): (name: string) => Promise<T>
}

/** A model that is a folder of files. */
export interface FolderModel {
  readonly path: string
  /** Changes when a file in it is replaced. */
  readonly version: string
}

export function createModelFiles(folders: ModelFolders): ModelFiles {
  const pathOf = async (folder: string, name: string): Promise<string> => {
    const path = await folders.find(folder, name)
    if (path) return path
    throw new WorkloadError('execution-failed', `Model in folder '${folder}' with filename '${name}' not found.`)
  }
  const open = async (folder: string, name: string): Promise<SafetensorsFile> => {
    const path = await pathOf(folder, name)
    if (/\.(safetensors|sft)$/i.test(path)) return openSafetensors(path)
    throw new WorkloadError('execution-failed', `${name} is not read: only .safetensors files are; convert it first`)
  }
  /** The last result for a path while the version stays. */
  const keeping = <S extends FolderModel, T>(
    find: (name: string) => Promise<S>,
    make: (source: S, name: string) => T | Promise<T>,
  ) => {
    const made = new Map<string, { readonly version: string; readonly value: Promise<T> }>()
    return async (name: string) => {
      const source = await find(name)
      const known = made.get(source.path)
      if (known?.version === source.version) return known.value
      const value = Promise.resolve(make(source, name))
      made.set(source.path, { version: source.version, value })
      value.catch(() => made.delete(source.path)) // a failure is not kept
      return value
    }
  }
  const findFolder = async (folder: string, name: string): Promise<FolderModel> => {
    const path = await pathOf(folder, name)
    return { path, version: await versionOfPath(path) }
  }
  return {
    pathOf,
    open,
    list: folders.list,
    versionOf: async (folder, name) => versionOfPath(await pathOf(folder, name)),
    kept: (folder, make) => keeping((name) => open(folder, name), make),
    keptFolder: (folder, make) => keeping((name) => findFolder(folder, name), make),
  }
}

/** Of a file, or of all files below a folder. */
async function versionOfPath(path: string): Promise<string> {
  const found = await stat(path)
  if (!found.isDirectory()) return versionOf(found)
  const entries = (await readdir(path)).filter((name) => !name.startsWith('.')).toSorted()
  const versions = await Promise.all(entries.map(async (name) => `${name} ${await versionOfPath(join(path, name))}`))
  return createHash('sha256').update(versions.join('\n')).digest('hex').slice(0, 16)
}
