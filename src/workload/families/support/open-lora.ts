import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { sizeOf } from '../../tensor/tensor.ts'
import { type LoraFile, readLoraFile } from '../../weights/lora-file.ts'
import { isTextLayer } from '../../weights/lora-names.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import { deltaSize } from '../../weights/weight-change.ts'
import type { FamilyServices } from './family.ts'
import type { Addition, Patchable, ReadablePatch } from './patches.ts'

/**
 * A file of the LoRA family, whatever trainer wrote it. Equal contents have equal keys. Layers that a network does not
 * have are told and passed over. Throws `execution-failed` when the file is of a kind that is not known here.
 */
export async function openLora(
  file: SafetensorsFile,
  name: string,
  { onUnknownLayers }: Pick<FamilyServices, 'onUnknownLayers'>,
): Promise<ReadablePatch> {
  const [lora, key] = await Promise.all([readLoraFile(file), hashOf(file.path)])
  if (lora.strange.length > 0) onUnknownLayers(name, lora.strange)
  return {
    key,
    additions(patchable) {
      const { additions, unknown } = match(lora, patchable)
      // Whether a text encoder's layer is known is only told with all encoders of a model before one.
      const missed = patchable.part === 'network' ? unknown.filter((layer) => !isTextLayer(layer)) : []
      if (missed.length > 0) onUnknownLayers(name, missed)
      return additions
    },
  }
}

/** What is made for a layer of another size is as unknown as what is made for a layer that is not there. */
function match({ layers }: LoraFile, { names, view }: Patchable) {
  const fits = (weight: string, { delta }: Addition) =>
    !delta || !view.has(weight) || deltaSize(delta) === sizeOf(view.get(weight).dims)
  const additions = new Map<string, Addition[]>()
  const unknown: string[] = []
  for (const [named, changes] of layers) {
    const layer = names.get(named)
    if (layer === undefined || !changes.every((change) => fits(`${layer}.${change.parameter}`, change)))
      unknown.push(named)
    if (layer === undefined) continue
    for (const { parameter, ...addition } of changes) {
      const weight = `${layer}.${parameter}`
      additions.set(weight, [...(additions.get(weight) ?? []), addition])
    }
  }
  return { additions, unknown }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path, { highWaterMark: 1 << 22 }), hash)
  return hash.digest('hex')
}
