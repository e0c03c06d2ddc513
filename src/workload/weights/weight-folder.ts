import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { WorkloadError } from '../base/errors.ts'
import { ifThere } from '../base/if-there.ts'
import { openSafetensors, type SafetensorsFile } from './safetensors.ts'

/** `<stem>.fp16-00001-of-00002.safetensors`: variant and shards may both be absent. */
const WEIGHTS = /^(?<stem>[^.]+?)(?:\.(?<variant>[\w-]+?))?(?:-\d+-of-(?<parts>\d+))?\.safetensors$/

/** What diffusers and transformers call the files; others may lie beside them. */
const usualStems = ['diffusion_pytorch_model', 'model']

interface Named {
  readonly name: string
  readonly stem: string
  readonly variant: string
  readonly parts: number
}

/**
 * The weights of one network in a folder of its own, in one file or in shards. Of several variants it takes `fp16`
 * first, as ComfyUI does, then the one without a name. Undefined when there is no such folder or it has none in
 * safetensors; throws `execution-failed` when shards are missing.
 */
export async function openWeightFolder(folder: string): Promise<SafetensorsFile | undefined> {
  const found = await weightFiles(folder)
  const [first] = found.toSorted((a, b) => rankOf(a) - rankOf(b))
  if (!first) return undefined
  const chosen = found.filter(
    ({ stem, variant, parts }) => stem === first.stem && variant === first.variant && parts === first.parts,
  )
  if (chosen.length !== first.parts)
    throw new WorkloadError('execution-failed', `${folder} has ${chosen.length} of ${first.parts} weight files`)
  const files = await Promise.all(chosen.map(({ name }) => openSafetensors(join(folder, name))))
  return files.length === 1 ? files[0] : joined(folder, files)
}

/** Less is better. */
const rankOf = ({ stem, variant }: Named): number =>
  (usualStems.includes(stem) ? 0 : 10) + (['fp16', ''].indexOf(variant) + 1 || 3)

async function weightFiles(folder: string): Promise<readonly Named[]> {
  const names = (await ifThere(readdir(folder))) ?? []
  return names.toSorted().flatMap((name) => {
    const { stem, variant = '', parts = '1' } = WEIGHTS.exec(name)?.groups ?? {}
    return stem === undefined ? [] : [{ name, stem, variant, parts: Number(parts) }]
  })
}

/** Several files as one. */
function joined(path: string, files: readonly SafetensorsFile[]): SafetensorsFile {
  return {
    path,
    version: files.map(({ version }) => version).join(' '),
    tensors: new Map(files.flatMap(({ tensors }) => [...tensors])),
    metadata: files[0]!.metadata,
  }
}
