import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type LoraFile, readLoraFile } from '../../weights/lora-file.ts'
import { isTextLayer } from '../../weights/lora-names.ts'
import type { SafetensorsFile } from '../../weights/safetensors.ts'
import type { FamilyServices } from './family.ts'
import type { Addition, ReadablePatch } from './patches.ts'

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
    additions({ part, names }) {
      const { additions, unknown } = match(lora, names)
      // Whether a text encoder's layer is known is only told with all encoders of a model before one.
      const missed = part === 'network' ? unknown.filter((layer) => !isTextLayer(layer)) : []
      if (missed.length > 0) onUnknownLayers(name, missed)
      return additions
    },
  }
}

function match({ layers }: LoraFile, names: ReadonlyMap<string, string>) {
  const additions = new Map<string, Addition[]>()
  const unknown: string[] = []
  for (const [named, changes] of layers) {
    const layer = names.get(named)
    if (layer === undefined) unknown.push(named)
    else
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
