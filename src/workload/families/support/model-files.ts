import { stat } from 'node:fs/promises'
import { WorkloadError } from '../../base/errors.ts'
import type { ModelFolders } from '../../weights/model-folders.ts'
import { openSafetensors, type SafetensorsFile, versionOf } from '../../weights/safetensors.ts'

/** Finds and opens model files by folder and name. */
export interface ModelFiles {
  /** Throws `execution-failed` when there is no such file. */
  pathOf(folder: string, name: string): Promise<string>
  versionOf(folder: string, name: string): Promise<string>
  /** As `pathOf`, and when the file is none of safetensors. */
  open(folder: string, name: string): Promise<SafetensorsFile>
  /** `make` of the file; its last result again while the file was not replaced. */
  kept<T>(kind: string, make: (file: SafetensorsFile, name: string) => T | Promise<T>): (name: string) => Promise<T>
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
  return {
    pathOf,
    open,
    versionOf: async (folder, name) => versionOf(await stat(await pathOf(folder, name))),
    kept<T>(folder: string, make: (file: SafetensorsFile, name: string) => T | Promise<T>) {
      const made = new Map<string, { readonly version: string; readonly value: Promise<T> }>()
      return async (name: string) => {
        const file = await open(folder, name)
        const known = made.get(file.path)
        if (known?.version === file.version) return known.value
        const value = Promise.resolve(make(file, name))
        made.set(file.path, { version: file.version, value })
        value.catch(() => made.delete(file.path)) // a failure is not kept
        return value
      }
    },
  }
}
