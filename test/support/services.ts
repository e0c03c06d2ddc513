import { silentLog } from '../../src/common/log.ts'
import type { LoweringFor } from '../../src/workload/architectures/lowering.ts'
import type { FamilyServices } from '../../src/workload/families/support/family.ts'
import { createFamilyServices } from '../../src/workload/families/support/services.ts'
import type { Runtime } from '../../src/workload/runtime/runtime.ts'
import { createModelFolders } from '../../src/workload/weights/model-folders.ts'
import { cpuRuntime } from './runtime.ts'

/** What families build with, on a real ONNX Runtime; graphs may be written by another lowering and rewritten to run here. */
export async function testServices(
  lower?: LoweringFor,
  rewrite = (bytes: Uint8Array): Uint8Array => bytes,
): Promise<FamilyServices> {
  const runtime = await cpuRuntime()
  const rewriting: Runtime = {
    ...runtime,
    session: ({ build, ...source }) =>
      runtime.session({
        ...source,
        async build() {
          const built = await build()
          return 'bytes' in built ? { ...built, bytes: rewrite(built.bytes) } : built
        },
      }),
  }
  const services = createFamilyServices(rewriting, createModelFolders('models'), silentLog)
  return lower ? { ...services, lower: { network: lower, textEncoder: lower, autoencoder: lower } } : services
}
