import { silentLog } from '../../src/common/log.ts'
import { checkpointWeights } from '../../src/workload/families/support/checkpoint-file.ts'
import type { CheckpointWeights } from '../../src/workload/families/support/family.ts'
import { loadFamilies } from '../../src/workload/families/support/model-store.ts'
import { familyOf } from '../../src/workload/families/support/open-checkpoint.ts'
import { createFamilyServices } from '../../src/workload/families/support/services.ts'
import type { Checkpoint } from '../../src/workload/model/ports.ts'
import { createModelFolders } from '../../src/workload/weights/model-folders.ts'
import { openSafetensors } from '../../src/workload/weights/safetensors.ts'
import { cpuRuntime } from './runtime.ts'

/** The checkpoint that comes with the project. */
export const bundledCheckpoint = 'models/checkpoints/easel-demo.safetensors'

/** A checkpoint file, opened by the family that recognises it. */
export async function openCheckpoint(
  path: string,
): Promise<Checkpoint & { readonly family: string; readonly weights: CheckpointWeights }> {
  const file = await openSafetensors(path)
  const weights = checkpointWeights(file)
  const family = weights && familyOf(weights, await loadFamilies())
  if (!family) throw new Error(`no family recognises ${path}`)
  const services = createFamilyServices(await cpuRuntime(), createModelFolders('models'), silentLog)
  return { family: family.name, weights, ...(await family.open(weights, services)) }
}
