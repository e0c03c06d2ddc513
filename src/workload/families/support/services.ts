import type { Log } from '../../../common/log.ts'
import { autoencoderLowering, networkLowering, textEncoderLowering } from '../../architectures/lowerings.ts'
import { WorkloadError } from '../../base/errors.ts'
import { createKeep } from '../../base/keep.ts'
import { once } from '../../base/once.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { ModelFolders } from '../../weights/model-folders.ts'
import { openSafetensors } from '../../weights/safetensors.ts'
import { loadClipTokenizer } from './clip-tokenizer.ts'
import { createEmbeddings } from './embeddings.ts'
import type { FamilyServices } from './family.ts'

/** What is kept of low-rank changes, in bytes: some sets of LoRA files of the usual sizes. */
const SLOT_BYTES = 2 ** 30

/** What every family builds with, for one device and one set of model folders. */
export function createFamilyServices(runtime: Runtime, folders: ModelFolders, log: Pick<Log, 'warn'>): FamilyServices {
  const device = runtime.provider.name
  return {
    runtime,
    lower: {
      network: networkLowering(device),
      textEncoder: textEncoderLowering,
      autoencoder: autoencoderLowering(device),
    },
    tokenizer: once(loadClipTokenizer),
    slotTensors: createKeep(SLOT_BYTES),
    slottedFrom: 2 ** 28,
    onUnknownLayers: (lora, layers) =>
      log.warn(
        { lora, count: layers.length, first: layers.slice(0, 3) },
        'a LoRA file changes layers that the model has not, or not of that size',
      ),
    onMissingEmbedding: (name) => log.warn({ embedding: name }, 'the prompt names an embedding that is not there'),
    embeddings: createEmbeddings({
      files: () => folders.list('embeddings'),
      async open(name) {
        const path = await folders.find('embeddings', name)
        if (!path) throw new WorkloadError('execution-failed', `the embedding ${name} is gone`)
        return openSafetensors(path)
      },
    }),
  }
}
