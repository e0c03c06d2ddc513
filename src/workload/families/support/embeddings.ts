import { WorkloadError } from '../../base/errors.ts'
import { rowsOf, stackRows } from '../../tensor/rows.ts'
import { reshaped, type Tensor } from '../../tensor/tensor.ts'
import { readTensor, type SafetensorsFile } from '../../weights/safetensors.ts'

/** Where embedding files come from. */
export interface EmbeddingFiles {
  /** Every file below the embeddings folder, as its path from there, with `/`. */
  files(): Promise<readonly string[]>
  /** The index of one of `files`. */
  open(file: string): Promise<SafetensorsFile>
}

/** Which encoder asks: files for several encoders hold one tensor each, under these names. */
export type EmbeddingKey = 'clip_l' | 'clip_g' | 'clip_h'

/** The textual inversions (Gal et al. 2022) that prompts name as `embedding:name`. */
export interface Embeddings {
  /**
   * The vectors `[count, width]` of `name`, or undefined when there is no such file. The width is whatever the file has.
   * Throws `invalid-request` when the file is in another format.
   */
  find(name: string, key: EmbeddingKey): Promise<Tensor | undefined>
}

export function createEmbeddings({ files, open }: EmbeddingFiles): Embeddings {
  return {
    async find(name, key) {
      const file = fileOf(name, await files())
      if (file === undefined) return undefined
      if (!file.endsWith('.safetensors'))
        throw new WorkloadError(
          'invalid-request',
          `embedding ${name} is the file ${file}, which may hold code and is not read: convert it to .safetensors`,
        )
      return joined(name, await readParts(await open(file), key))
    },
  }
}

/** With or without the extension, in any sub-folder; the file nearest to the top wins, and one that can be read. */
function fileOf(name: string, files: readonly string[]): string | undefined {
  const endings = [name, `${name}.safetensors`, `${name}.pt`, `${name}.bin`]
  const depth = (file: string) => file.split('/').length
  const candidates = files
    .filter((file) => endings.some((ending) => file === ending || file.endsWith(`/${ending}`)))
    .toSorted((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1))
  return candidates.find((file) => file.endsWith('.safetensors')) ?? candidates[0]
}

const readParts = (file: SafetensorsFile, key: EmbeddingKey): Promise<readonly Tensor[]> =>
  Promise.all(tensorsFor([...file.tensors.keys()].toSorted(), key).map((stored) => readTensor(file, stored)))

/** Tensors of one width, below one another: `[width]` counts as one vector. */
function joined(name: string, parts: readonly Tensor[]): Tensor {
  const width = parts[0]?.dims.at(-1)
  if (!width || parts.some(({ dims }) => dims.at(-1) !== width))
    throw new WorkloadError('invalid-request', `embedding ${name} is a file without vectors of one width`)
  const rows = parts.map((part) => reshaped(part, [part.data.length / width, width]))
  return stackRows(
    rows,
    rows.reduce((count, part) => count + rowsOf(part), 0),
  )
}

/** The tensors that make up the embedding, by the conventions trainers have, the most definite first. */
function tensorsFor(names: readonly string[], key: EmbeddingKey): readonly string[] {
  const bundled = (ending: string) =>
    names.filter((name) => name.startsWith('bundle_emb.') && name.endsWith(`.${ending}`))
  const choices = [
    names.filter((name) => name === 'string_to_param' || name.startsWith('string_to_param.')).slice(0, 1),
    names.filter((name) => name === key),
    bundled('string_to_param.*'),
    bundled(key),
    names.filter((name) => name === 'emb_params'),
    names.slice(0, 1),
  ]
  return choices.find((choice) => choice.length > 0) ?? []
}
