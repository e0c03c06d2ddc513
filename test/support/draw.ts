import { silentLog } from '../../src/common/log.ts'
import type { Prompt } from '../../src/contracts/prompt.ts'
import { createModelStore, loadFamilies } from '../../src/workload/families/support/model-store.ts'
import { createFamilyServices } from '../../src/workload/families/support/services.ts'
import { createResultCache } from '../../src/workload/graph/cache.ts'
import { execute } from '../../src/workload/graph/execute.ts'
import png from '../../src/workload/image/formats/png.ts'
import type { ImageArtifact } from '../../src/workload/image/images.ts'
import { rawImage } from '../../src/workload/image/pixels.ts'
import { loadCatalogue } from '../../src/workload/nodes/support/catalogue.ts'
import { loadNodes } from '../../src/workload/nodes/support/registry.ts'
import { createModelFolders } from '../../src/workload/weights/model-folders.ts'
import { nodeRoom } from './node-room.ts'
import { cpuRuntime } from './runtime.ts'

/** Draws a prompt: the first picture that its node `out` saves, as a PNG. */
export type Draw = (prompt: Prompt) => Promise<Buffer>

/** What draws prompts over the model folders in `models`, with sessions of its own that it keeps open; no result is kept. */
export async function createDraw(models: string): Promise<Draw> {
  const folders = createModelFolders(models)
  const { context, input } = await nodeRoom()
  const services = createFamilyServices(await cpuRuntime(), folders, silentLog)
  const store = createModelStore(folders, await loadFamilies(), services)
  const registry = await loadNodes(await loadCatalogue(folders.list, input))
  return async (prompt) => {
    const [emitted] = await execute({
      prompt,
      outputs: ['out'],
      registry,
      cache: createResultCache({ maxBytes: 0, sizeOf: () => 1 }),
      contextFor: (run) => ({ ...context, ...run, models: store }),
      signal: context.signal,
      pngInfo: undefined,
      onEvent: () => undefined,
    })
    const { pixels } = emitted!.artifacts[0] as ImageArtifact // what SaveImage emits
    return png.encode(rawImage(pixels, 0), {})
  }
}
