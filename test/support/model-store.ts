import { silentLog } from '../../src/common/log.ts'
import { createModelStore, loadFamilies } from '../../src/workload/families/support/model-store.ts'
import { createFamilyServices } from '../../src/workload/families/support/services.ts'
import type { ModelStore } from '../../src/workload/model/ports.ts'
import { createModelFolders } from '../../src/workload/weights/model-folders.ts'
import { cpuRuntime } from './runtime.ts'

/** A store over the model folders below `root`, with every family and a runtime of its own. */
export async function storeOver(root: string): Promise<ModelStore> {
  const folders = createModelFolders(root)
  return createModelStore(folders, await loadFamilies(), createFamilyServices(await cpuRuntime(), folders, silentLog))
}
